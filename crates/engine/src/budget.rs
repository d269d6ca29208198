//! A limit on what a process may spend: tokens and money of all sessions, their subagents, titles and summaries.
//!
//! Every model call asks first. A call that cannot fit is not made, and one that fits may only write as much as is left. Sizes are
//! estimated before a call and exact after it. Calls in parallel share what is left, so together they can exceed it by what they write.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::stream;
use musher_model::{
    Block, Cache, ErrorClass, EventStream, Message, ModelError, Price, Provider, Request, Usage,
};

use crate::cost::{all_tokens, dollars, nanos};
use crate::unfinished::{Observer, watch};

/// The least a model must be able to write, in tokens; with less left, a call is not made.
const MIN_OUTPUT: u64 = 256;
/// The assumed size of an image or a document, in tokens.
const MEDIA_TOKENS: u64 = 1500;
/// The maximum number of conversations whose cached beginning is known.
const MAX_CONVERSATIONS: usize = 1000;

/// A limit on what the agents of a process may spend. Clones share it.
///
/// ```
/// use musher_engine::{Budget, Environment};
///
/// let budget = Budget::default().tokens(200_000).usd(1.5);
/// let environment = Environment::new("/home/user/.musher").with_budget(budget);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Budget {
    max_tokens: Option<u64>,
    max_nanos: Option<u64>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    spent: Amount,
    /// What the calls that run will spend at least.
    reserved: Amount,
    /// The size of the last prompt of each conversation, which the vendor may have cached.
    prompts: HashMap<String, u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Amount {
    tokens: u64,
    nanos: u64,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            nanos: self.nanos.saturating_add(other.nanos),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nanos: self.nanos.saturating_sub(other.nanos),
        }
    }
}

impl State {
    /// Returns how much of a request the vendor may have cached, in tokens.
    fn cached(&self, request: &Request) -> u64 {
        let prompt = request.cache_key.as_ref().and_then(|key| self.prompts.get(key));
        prompt.copied().unwrap_or(0)
    }
}

impl Budget {
    /// Sets the maximum number of tokens, cached ones included.
    #[must_use]
    pub fn tokens(mut self, limit: u64) -> Self {
        self.max_tokens = Some(limit);
        self
    }

    /// Sets the maximum cost in US dollars. A model without a known price is not called then.
    #[must_use]
    pub fn usd(mut self, limit: f64) -> Self {
        self.max_nanos = Some(nanos(limit));
        self
    }

    /// Returns a provider that keeps to the budget.
    pub(crate) fn limit(&self, inner: Arc<dyn Provider>, price: Option<Price>) -> Arc<dyn Provider> {
        Arc::new(Limited { inner, price, budget: self.clone() })
    }

    fn cached(&self, request: &Request) -> u64 {
        self.state().cached(request)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves what a call needs at least, and limits its output to what is left. The error says why the call does not fit.
    fn admit(&self, request: &mut Request, price: Option<&Price>) -> Result<Amount, String> {
        let input = request_tokens(request);
        let mut state = self.state();
        let taken = state.spent.plus(state.reserved);
        let mut need = Amount { tokens: input.saturating_add(MIN_OUTPUT), nanos: 0 };
        let mut output = u64::MAX;
        if let Some(max) = self.max_tokens {
            let left = max.saturating_sub(taken.tokens);
            if left < need.tokens {
                return Err(exceeded(
                    &format!("{max} tokens"),
                    &format!("{left} are left"),
                    &format!("about {} tokens", need.tokens),
                ));
            }
            output = left - input;
        }
        if let Some(max) = self.max_nanos {
            let Some(price) = price else {
                return Err(format!(
                    "cannot keep the budget in US dollars: the price of `{}` is unknown; set `price` of the model in the settings, or use \
                     a budget of tokens",
                    request.model
                ));
            };
            let cached = state.cached(request).min(input);
            let cost = |output| {
                let usage = Usage { output, ..input_usage(request.cache, input - cached, cached) };
                nanos(price.cost(&usage))
            };
            let left = max.saturating_sub(taken.nanos);
            need.nanos = cost(MIN_OUTPUT);
            if left < need.nanos {
                let (max, left) = (money(max), money(left));
                return Err(exceeded(
                    &max,
                    &format!("{left} is left"),
                    &format!("about {}", money(need.nanos)),
                ));
            }
            let per_thousand = cost(1000).saturating_sub(cost(0));
            let affordable = left.saturating_sub(cost(0)).saturating_mul(1000).checked_div(per_thousand);
            output = output.min(affordable.unwrap_or(u64::MAX));
        }
        if output < u64::MAX {
            request.max_output_tokens = Some(request.max_output_tokens.map_or(output, |max| max.min(output)));
        }
        state.reserved = state.reserved.plus(need);
        Ok(need)
    }
}

/// Returns the usage of a request whose vendor writes to the cache what it has not read from there.
fn input_usage(cache: Cache, new: u64, cached: u64) -> Usage {
    match cache {
        Cache::Off => Usage { input: new, cache_read: cached, ..Usage::default() },
        // the parts that stay for an hour are written with the first request
        Cache::Long if cached == 0 => Usage { cache_write: new, cache_write_long: new, ..Usage::default() },
        _ => Usage { cache_write: new, cache_read: cached, ..Usage::default() },
    }
}

fn exceeded(limit: &str, left: &str, need: &str) -> String {
    format!("budget of {limit} exceeded: {left}, and the next request needs {need}")
}

/// Returns an amount of money with two digits after the point, or more if it is small.
fn money(nanos: u64) -> String {
    let mut text = String::from("$");
    // writing to a String cannot fail
    let _ = if nanos >= 1_000_000_000 || nanos == 0 {
        write!(text, "{:.2}", dollars(nanos))
    } else {
        write!(text, "{:.4}", dollars(nanos))
    };
    text
}

/// A provider whose calls count against a budget.
#[derive(Debug)]
struct Limited {
    inner: Arc<dyn Provider>,
    price: Option<Price>,
    budget: Budget,
}

impl Provider for Limited {
    fn stream(&self, mut request: Request) -> EventStream {
        let reserved = match self.budget.admit(&mut request, self.price.as_ref()) {
            Ok(reserved) => reserved,
            Err(reason) => {
                let error = ModelError::new(ErrorClass::Billing, reason);
                return Box::pin(stream::iter([Err(error)]));
            }
        };
        let call = Call {
            budget: self.budget.clone(),
            price: self.price.clone(),
            conversation: request.cache_key.clone(),
            reserved,
            counted: Amount::default(),
        };
        let input = request_tokens(&request);
        let cached = self.budget.cached(&request);
        watch(self.inner.stream(request), input, cached, call)
    }
}

/// A running call: releases its reservation when it ends.
#[derive(Debug)]
struct Call {
    budget: Budget,
    price: Option<Price>,
    conversation: Option<String>,
    reserved: Amount,
    /// What was counted of this call. A vendor may report its usage several times.
    counted: Amount,
}

impl Observer for Call {
    fn unfinished(&mut self, usage: &Usage, _estimated: u64) {
        self.reported(usage);
    }

    fn reported(&mut self, usage: &Usage) {
        let cost = self.price.as_ref().map_or(0, |price| nanos(price.cost(usage)));
        let now = Amount { tokens: all_tokens(usage), nanos: cost };
        let mut state = self.budget.state();
        state.spent = state.spent.minus(self.counted).plus(now);
        let is_known = self.conversation.as_ref().is_some_and(|key| state.prompts.contains_key(key));
        if let Some(key) =
            self.conversation.clone().filter(|_| is_known || state.prompts.len() < MAX_CONVERSATIONS)
        {
            state.prompts.insert(key, usage.cache_read.saturating_add(usage.cache_write));
        }
        drop(state);
        self.counted = now;
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.reserved = state.reserved.minus(self.reserved);
    }
}

/// Estimates the size of a request: about four bytes for each token.
pub(crate) fn request_tokens(request: &Request) -> u64 {
    let system: usize = request.system.iter().map(String::len).sum();
    let tools = request.tools.iter();
    let tools: usize =
        tools.map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len()).sum();
    let bytes = u64::try_from(system + tools).unwrap_or(u64::MAX);
    let messages = request.messages.iter().map(message_tokens).fold(0, u64::saturating_add);
    bytes.div_ceil(4).saturating_add(messages)
}

/// Estimates the size of a message, in tokens.
pub(crate) fn message_tokens(message: &Message) -> u64 {
    message.content.iter().map(block_tokens).fold(0, u64::saturating_add)
}

fn block_tokens(block: &Block) -> u64 {
    let of_text = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
    match block {
        Block::Text { text } => of_text(text.len()),
        Block::Image(_) | Block::Document(_) => MEDIA_TOKENS,
        Block::ToolResult(result) => result.content.iter().map(block_tokens).fold(0, u64::saturating_add),
        other => of_text(serde_json::to_string(other).map_or(0, |text| text.len())),
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use musher_model::{Catalog, FinishReason, ModelEvent, Rates};

    use super::*;

    fn request(bytes: usize) -> Request {
        let mut request = Request::new("some-model", vec![Message::user("x".repeat(bytes))]);
        request.cache_key = Some("session".to_owned());
        request
    }

    fn price() -> Price {
        Price::flat(Rates { input: 2.0, output: 10.0, cache_read: Some(0.2), ..Rates::default() })
    }

    #[derive(Debug)]
    struct Answering(Usage);

    impl Provider for Answering {
        fn stream(&self, _request: Request) -> EventStream {
            // reported twice, as some vendors do
            let usage = ModelEvent::Usage(self.0);
            let finish = ModelEvent::Finish(FinishReason::Stop);
            Box::pin(stream::iter([Ok(usage.clone()), Ok(usage), Ok(finish)]))
        }
    }

    /// A model whose answer is cut.
    #[derive(Debug)]
    struct Cut;

    impl Provider for Cut {
        fn stream(&self, _request: Request) -> EventStream {
            let text = ModelEvent::TextDelta("x".repeat(40));
            Box::pin(stream::iter([Ok(text), Err(ModelError::new(ErrorClass::Cut, "cut"))]))
        }
    }

    async fn call(budget: &Budget, used: Usage, request: Request) -> Result<(), ModelError> {
        let provider = budget.limit(Arc::new(Answering(used)), Some(price()));
        let events: Vec<_> = provider.stream(request).collect().await;
        events.into_iter().find_map(Result::err).map_or(Ok(()), Err)
    }

    #[test]
    fn request_that_cannot_fit_is_refused_and_others_may_only_write_what_is_left() {
        let budget = Budget::default().tokens(2000);
        let error = budget.admit(&mut request(8000), None).unwrap_err();
        assert_eq!(
            error,
            "budget of 2000 tokens exceeded: 2000 are left, and the next request needs about 2256 tokens"
        );
        let mut fitting = request(4000);
        fitting.max_output_tokens = Some(8192);
        assert_eq!(budget.admit(&mut fitting, None).unwrap().tokens, 1256);
        assert_eq!(fitting.max_output_tokens, Some(1000));
        // the first call still runs
        budget.admit(&mut request(4000), None).unwrap_err();
    }

    #[test]
    fn money_needs_a_price_and_cached_input_counts_as_such() {
        let budget = Budget::default().usd(0.01);
        assert!(budget.admit(&mut request(4), None).unwrap_err().contains("`price`"));
        // 10,000 tokens: $0.02 for new input, $0.002 from the cache
        let error = budget.admit(&mut request(40_000), Some(&price())).unwrap_err();
        assert_eq!(
            error,
            "budget of $0.0100 exceeded: $0.0100 is left, and the next request needs about $0.0226"
        );
        budget.state().prompts.insert("session".to_owned(), 10_000);
        let mut cached = request(40_000);
        budget.admit(&mut cached, Some(&price())).unwrap();
        assert_eq!(cached.max_output_tokens, Some(800));
    }

    #[tokio::test]
    async fn calls_of_all_sessions_count_once_and_reservations_end_with_their_calls() {
        let budget = Budget::default().tokens(1000).usd(1.0);
        let used = Usage {
            input: 300,
            output: 100,
            cache_read: 50,
            cache_write: 50,
            thinking: 40,
            ..Usage::default()
        };
        call(&budget, used, request(40)).await.unwrap();
        {
            let state = budget.state();
            assert_eq!((state.spent.tokens, state.reserved), (500, Amount::default()));
            assert_eq!(state.prompts["session"], 100);
        }
        call(&budget.clone(), used, request(40)).await.unwrap();
        let error = call(&budget, used, request(40)).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::Billing);
        assert!(error.message.starts_with("budget of 1000 tokens exceeded: 0 are left"), "{error}");
    }

    #[tokio::test]
    async fn call_that_is_cut_counts_with_an_estimate() {
        let budget = Budget::default().tokens(1000);
        let provider = budget.limit(Arc::new(Cut), None);
        provider.stream(request(400)).collect::<Vec<_>>().await;
        let state = budget.state();
        assert_eq!((state.spent.tokens, state.reserved), (110, Amount::default()));
    }

    #[test]
    fn input_that_is_written_to_the_cache_costs_the_rate_of_writing() {
        let rates =
            Rates { input: 2.0, cache_write: Some(2.5), cache_write_long: Some(4.0), ..Rates::default() };
        let price = Price::flat(rates);
        let budget = Budget::default().usd(1.0);
        let need = |cache, cached: u64| {
            let mut request = request(40_000);
            request.cache = cache;
            budget.state().prompts.insert("session".to_owned(), cached);
            budget.admit(&mut request, Some(&price)).unwrap().nanos
        };
        assert_eq!(need(Cache::Off, 0), 20_000_000);
        assert_eq!(need(Cache::Short, 0), 25_000_000);
        assert_eq!(need(Cache::Long, 0), 40_000_000);
        // what is cached costs as much as input: the price has no other rate
        assert_eq!(need(Cache::Long, 6000), 12_000_000 + 10_000_000);
    }

    #[test]
    fn request_above_a_price_step_is_admitted_at_the_rates_of_the_step() {
        let mut catalog = Catalog::default();
        catalog.add_environment(&|name| (name == "ANTHROPIC_API_KEY").then(|| "k".to_owned()));
        let price = catalog.find("claude-haiku-5-5").unwrap().price.unwrap();
        let need = |bytes| Budget::default().usd(1.0).admit(&mut request(bytes), Some(&price)).unwrap().nanos;
        let (below, above) = (need(400_000), need(400_004));
        assert!(above > below * 49 / 10, "{below} {above}");
        Budget::default().usd(0.03).admit(&mut request(400_004), Some(&price)).unwrap_err();
    }
}
