//! What goes back to the model for messages of other models, labels, and rejected reasoning.

use musher_model::{Block, Message as ModelMessage, Role as ModelRole, ToolUse};
use serde_json::Map;

use super::*;

/// Nothing was rejected.
const ALL: Accepted = Accepted { rejected: 0, is_unmarked: false };

fn thought(text: &str, proof: Option<Proof>) -> Thinking {
    Thinking { text: text.to_owned(), proof }
}

fn signed(signature: &str) -> Proof {
    Proof::Signature { signature: signature.to_owned() }
}

/// Returns a stored answer of a model with reasoning, a call and a label, and its form in a request.
fn answer(model: &str, id: &str) -> (Message, ModelMessage) {
    let call = ToolUse { signature: Some("call".to_owned()), ..ToolUse::new("t", "LS", Map::new()) };
    let thinking = thought("hm", Some(signed(id)));
    let hidden = thought("", Some(Proof::Redacted { data: "x".to_owned() }));
    let content = vec![
        Content::Thinking(thinking.clone()),
        Content::Thinking(hidden.clone()),
        Content::ToolUse(call.clone()),
    ];
    let mut message = Message::new(id, Role::Assistant, content);
    message.model_id = Some(model.to_owned());
    message.extra.insert(Label::Phase.name().to_owned(), "commentary".into());
    let content = vec![Block::Thinking(thinking), Block::Thinking(hidden), Block::ToolUse(call)];
    (message, ModelMessage { role: ModelRole::Assistant, content })
}

fn replay<'a>(model: &'a str, is_binding: bool, accepted: &'a Accepted) -> Replay<'a> {
    Replay::new(model, is_binding, accepted, &["Be kind.".to_owned()], &[])
}

#[test]
fn own_answer_goes_back_whole_and_that_of_another_model_without_its_proofs() {
    let (message, request) = answer("a", "m1");
    let mut own = request.clone();
    replay("a", false, &ALL).push_stored(0, &message, &mut own);
    let label = Block::Label { label: Label::Phase, value: "commentary".to_owned() };
    assert_eq!(own.content[0], label);
    assert_eq!(own.content[1..], request.content);

    let mut foreign = request;
    replay("b", false, &ALL).push_stored(0, &message, &mut foreign);
    let call = ToolUse::new("t", "LS", Map::new());
    assert_eq!(foreign.content, [Block::Thinking(thought("hm", None)), Block::ToolUse(call)]);
}

#[test]
fn reasoning_with_another_prefix_stays_out_only_for_models_that_bind_it() {
    let (mut message, request) = answer("a", "m1");
    let before = replay("a", true, &ALL);
    before.origin().mark(&mut message);
    for (is_binding, system, is_kept) in
        [(true, "Be kind.", true), (true, "Be brief.", false), (false, "Be brief.", true)]
    {
        let mut sent = request.clone();
        let mut replay = Replay::new("a", is_binding, &ALL, &[system.to_owned()], &[]);
        replay.push_stored(0, &message, &mut sent);
        let has = sent.content.iter().any(|block| matches!(block, Block::Thinking(_)));
        assert_eq!(has, is_kept, "{is_binding} {system}");
        assert!(sent.content.iter().any(|block| matches!(block, Block::ToolUse(_))));
    }
}

#[test]
fn reasoning_after_reasoning_that_stays_out_is_valid_with_it_left_out() {
    let (mut first, first_sent) = answer("a", "m1");
    replay("a", true, &ALL).origin().mark(&mut first);
    let brief = ["Be brief.".to_owned()];
    // the second answer is made without the reasoning of the first
    let mut between = Replay::new("a", true, &ALL, &brief, &[]);
    between.push_stored(0, &first, &mut first_sent.clone());
    let (mut second, second_sent) = answer("a", "m2");
    between.origin().mark(&mut second);
    let mut later = Replay::new("a", true, &ALL, &brief, &[]);
    let (mut sent_first, mut sent_second) = (first_sent.clone(), second_sent.clone());
    later.push_stored(0, &first, &mut sent_first);
    later.push_stored(1, &second, &mut sent_second);
    let thoughts = |message: &ModelMessage| {
        message.content.iter().filter(|block| matches!(block, Block::Thinking(_))).count()
    };
    assert_eq!((thoughts(&sent_first), thoughts(&sent_second)), (0, 2));
}

#[test]
fn rejected_reasoning_is_remembered_in_the_messages_after_it() {
    let (first, request) = answer("a", "m1");
    let mut accepted = Accepted::default();
    accepted.reject(1);
    let mut replay = replay("a", false, &accepted);
    let mut sent = request;
    replay.push_stored(0, &first, &mut sent);
    assert_eq!(sent.content[0], Block::Thinking(thought("hm", None)), "without a proof it is not sent");
    let (mut second, _) = answer("a", "m2");
    replay.origin().mark(&mut second);
    accepted.marked();
    let (mut third, _) = answer("a", "m3");
    Replay::new("a", false, &accepted, &[], &[]).origin().mark(&mut third);
    assert_eq!(Accepted::restore(&[first, second, third]), accepted);
}

#[test]
fn several_labels_keep_their_places() {
    let (mut message, request) = answer("a", "m1");
    let label =
        |index: usize, value: &str| PlacedLabel { index, label: Label::Phase, value: value.to_owned() };
    set_labels(&mut message, &[label(0, "commentary"), label(2, "final_answer")]);
    let mut sent = request;
    replay("a", false, &ALL).push_stored(0, &message, &mut sent);
    let places: Vec<usize> = sent
        .content
        .iter()
        .enumerate()
        .filter(|(_, block)| matches!(block, Block::Label { .. }))
        .map(|(index, _)| index)
        .collect();
    assert_eq!(places, [0, 3], "before the parts they are about");
}
