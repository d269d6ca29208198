//! Prompts that wait for their turn, oldest first.

use std::collections::VecDeque;

use super::queued_prompt::Queued;

/// The queue of prompts.
pub(super) struct Prompts {
    waiting: VecDeque<Queued>,
    max: usize,
}

impl Prompts {
    /// Creates a queue for at most `max` prompts of clients.
    pub(super) fn new(max: usize) -> Self {
        Self { waiting: VecDeque::new(), max }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the queue takes no more prompts of clients.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() >= self.max
    }

    /// Adds a prompt.
    pub(super) fn push(&mut self, prompt: Queued) {
        self.waiting.push_back(prompt);
    }

    /// Adds a prompt of the engine, such as a plan to carry out, before the others.
    pub(super) fn push_first(&mut self, prompt: Queued) {
        self.waiting.push_front(prompt);
    }

    /// Takes the oldest prompt.
    pub(super) fn next(&mut self) -> Option<Queued> {
        self.waiting.pop_front()
    }

    /// Takes the oldest prompt if it may join the running turn: it does not ask for its own turn, and its answer needs no schema.
    pub(super) fn next_joining(&mut self) -> Option<Queued> {
        let may_join =
            |queued: &mut Queued| !queued.prompt.waits_for_end && queued.prompt.output_schema.is_none();
        self.waiting.pop_front_if(may_join)
    }

    /// Takes all prompts.
    pub(super) fn take_all(&mut self) -> VecDeque<Queued> {
        std::mem::take(&mut self.waiting)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Prompt;

    fn prompt(text: &str) -> Queued {
        Queued::new(None, Prompt { text: text.to_owned(), ..Prompt::default() })
    }

    fn texts(prompts: &Prompts) -> Vec<&str> {
        prompts.iter().map(|queued| queued.prompt.text.as_str()).collect()
    }

    #[test]
    fn full_queue_says_so_and_a_prompt_of_the_engine_goes_first() {
        let mut prompts = Prompts::new(2);
        prompts.push(prompt("one"));
        assert!(!prompts.is_full());
        prompts.push(prompt("two"));
        assert!(prompts.is_full());
        prompts.push_first(prompt("plan"));
        assert_eq!(texts(&prompts), ["plan", "one", "two"]);
        assert_eq!(prompts.take_all().len(), 3);
        assert!(prompts.is_empty());
    }

    #[test]
    fn prompt_with_its_own_turn_keeps_those_behind_it_from_joining() {
        let mut prompts = Prompts::new(9);
        prompts.push(prompt("joins"));
        let mut alone = prompt("alone");
        alone.prompt.waits_for_end = true;
        prompts.push(alone);
        prompts.push(prompt("behind"));
        assert!(prompts.next_joining().is_some_and(|joined| joined.prompt.text == "joins"));
        assert!(prompts.next_joining().is_none());
        assert_eq!(texts(&prompts), ["alone", "behind"]);
    }
}
