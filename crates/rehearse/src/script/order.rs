//! Checks which steps may follow which while they are parsed, so that errors name the line of the step.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Hang, Step};

/// Parses a list of steps in a valid order.
pub(super) fn steps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Step>, D::Error> {
    struct Steps;
    impl<'de> Visitor<'de> for Steps {
        type Value = Vec<Step>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of steps")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Step>, A::Error> {
            let mut steps = Vec::new();
            while let Some(Ordered(step)) = seq.next_element_seed(Next(&steps))? {
                steps.push(step);
            }
            Ok(steps)
        }
    }
    deserializer.deserialize_seq(Steps)
}

/// A step that is valid at its position.
struct Ordered(Step);

struct Next<'a>(&'a [Step]);

impl<'de> serde::de::DeserializeSeed<'de> for Next<'_> {
    type Value = Ordered;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Ordered, D::Error> {
        let step = Step::deserialize(deserializer)?;
        match problem(self.0, &step) {
            Some(problem) => Err(D::Error::custom(problem)),
            None => Ok(Ordered(step)),
        }
    }
}

fn problem(before: &[Step], step: &Step) -> Option<String> {
    let ended = before.iter().find_map(|step| match step {
        Step::Error(_) => Some("error"),
        Step::Cut(_) => Some("cut"),
        Step::Hang(_) => Some("hang"),
        _ => None,
    });
    if let Some(end) = ended {
        return Some(format!("nothing may follow `{end}`: this step would never be played"));
    }
    match step {
        Step::Hang(Hang::BeforeHeaders) if !before.is_empty() => Some(
            "`hang: before_headers` must be the only step: the steps before it need the headers".to_owned(),
        ),
        Step::Tool(tool) if tool.arguments_text.is_some() && !tool.arguments.is_empty() => {
            Some("a tool takes `arguments` or `arguments_text`, not both".to_owned())
        }
        _ => None,
    }
}
