//! The agent's questions as a form, for editors that have forms, or as choices, for those that have not.

use std::collections::BTreeMap;

use agent_client_protocol::v1::schema::{
    ElicitationAction, ElicitationContentValue, ElicitationSchema, EnumOption, MultiSelectPropertySchema,
    PermissionOption, PermissionOptionKind, StringPropertySchema,
};
use musher::wire::Question;

/// The choice to say nothing.
pub(crate) const SKIP: &str = "skip";

/// Returns a form with one field for each question, and one for own words where there are choices.
pub(crate) fn form(asked: &[Question]) -> ElicitationSchema {
    asked.iter().enumerate().fold(ElicitationSchema::new(), |form, (at, question)| {
        let title = question.topic.clone().unwrap_or_else(|| question.question.clone());
        let choices = choices(question);
        if choices.is_empty() {
            let field = StringPropertySchema::new().title(title).description(question.question.clone());
            return form.property(field_name(at), field, true);
        }
        let choices: Vec<_> =
            choices.iter().map(|choice| EnumOption::new(choice.clone(), choice.clone())).collect();
        let form = if question.multi_select == Some(true) {
            let field = MultiSelectPropertySchema::titled(choices);
            form.property(field_name(at), field.title(title).description(question.question.clone()), false)
        } else {
            let field = StringPropertySchema::new().title(title).description(question.question.clone());
            form.property(field_name(at), field.one_of(choices), false)
        };
        let own = StringPropertySchema::new().title("Something else");
        form.property(own_name(at), own, false)
    })
}

/// Returns the answers in a form that was filled in; nothing if one is missing.
pub(crate) fn answers(asked: &[Question], action: &ElicitationAction) -> Option<Vec<String>> {
    let ElicitationAction::Accept(accepted) = action else { return None };
    let empty = BTreeMap::new();
    let fields = accepted.content.as_ref().unwrap_or(&empty);
    let text = |name: &str| match fields.get(name)? {
        ElicitationContentValue::String(text) => Some(text.clone()),
        ElicitationContentValue::StringArray(chosen) => Some(chosen.join(", ")),
        ElicitationContentValue::Integer(number) => Some(number.to_string()),
        ElicitationContentValue::Number(number) => Some(number.to_string()),
        ElicitationContentValue::Boolean(yes) => Some(yes.to_string()),
        _ => None,
    };
    let given = |name: &str| text(name).filter(|text| !text.trim().is_empty());
    (0..asked.len()).map(|at| given(&own_name(at)).or_else(|| given(&field_name(at)))).collect()
}

/// The choice to answer in a message.
pub(crate) const AS_TEXT: &str = "as_text";

/// Returns one button for each answer; nothing if the question wants words.
///
/// The first one does not answer: an editor that approves everything by itself takes the first that allows, and must not answer for the user.
pub(crate) fn buttons(question: &Question) -> Vec<PermissionOption> {
    let choices = choices(question);
    if choices.is_empty() {
        return Vec::new();
    }
    let buttons = choices.iter().enumerate().map(|(at, choice)| {
        PermissionOption::new(at.to_string(), choice.clone(), PermissionOptionKind::AllowOnce)
    });
    let skip = PermissionOption::new(SKIP, "Skip", PermissionOptionKind::RejectOnce);
    let as_text = PermissionOption::new(AS_TEXT, "Answer in a message", PermissionOptionKind::AllowOnce);
    std::iter::once(as_text).chain(buttons).chain([skip]).collect()
}

/// Returns the answer behind a button.
pub(crate) fn chosen(question: &Question, button: &str) -> Option<String> {
    choices(question).get(button.parse::<usize>().ok()?).cloned()
}

/// Returns the questions as text, for editors that answer them with the next prompt.
pub(crate) fn as_text(asked: &[Question]) -> String {
    let lines = asked.iter().map(|question| {
        let choices = choices(question);
        let choices = if choices.is_empty() { String::new() } else { format!(" ({})", choices.join(" / ")) };
        format!("- {}{choices}\n", question.question)
    });
    lines.collect()
}

fn choices(question: &Question) -> &[String] {
    question.options.as_deref().unwrap_or_default()
}

fn field_name(at: usize) -> String {
    format!("answer_{}", at + 1)
}

fn own_name(at: usize) -> String {
    format!("answer_{}_other", at + 1)
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::ElicitationAcceptAction;
    use musher::wire::Count;

    use super::*;

    fn question(text: &str, options: &[&str], is_multiple: bool) -> Question {
        Question {
            options: Some(options.iter().map(|&option| option.to_owned()).collect()),
            multi_select: Some(is_multiple),
            ..Question::new(Count::from(1), text)
        }
    }

    #[test]
    fn button_maps_to_its_answer() {
        let asked = question("Which colour?", &["Red", "Blue"], false);
        let names: Vec<_> = buttons(&asked).into_iter().map(|button| button.name).collect();
        assert_eq!(names, ["Answer in a message", "Red", "Blue", "Skip"]);
        assert_eq!(chosen(&asked, "1").as_deref(), Some("Blue"));
        assert_eq!((chosen(&asked, SKIP), chosen(&asked, AS_TEXT), chosen(&asked, "7")), (None, None, None));
        assert_eq!(buttons(&question("Why?", &[], false)), []);
    }

    #[test]
    fn declined_form_gives_no_answer_and_accepted_form_does() {
        let action = |fields: &[(&str, ElicitationContentValue)]| {
            let fields: BTreeMap<_, _> =
                fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            ElicitationAction::Accept(ElicitationAcceptAction::new().content(fields))
        };
        assert_eq!(answers(&colours(), &ElicitationAction::Decline), None);
        let text = |text: &str| ElicitationContentValue::String(text.to_owned());
        let both = action(&[
            ("answer_1", text("Red")),
            ("answer_1_other", text("Mauve")),
            ("answer_2", ElicitationContentValue::StringArray(vec!["S".to_owned(), "L".to_owned()])),
        ]);
        assert_eq!(answers(&colours(), &both).unwrap(), ["Mauve", "S, L"]);
        assert_eq!(answers(&colours(), &action(&[("answer_1", text("Red"))])), None);
        let fields: Vec<_> = form(&colours()).properties.into_keys().collect();
        assert_eq!(fields, ["answer_1", "answer_1_other", "answer_2", "answer_2_other"]);
    }

    fn colours() -> [Question; 2] {
        [question("Which colour?", &["Red", "Blue"], false), question("Which sizes?", &["S", "L"], true)]
    }
}
