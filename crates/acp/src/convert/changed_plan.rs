//! A plan as a form: the user changes the text before it is carried out.

use agent_client_protocol::v1::schema::{
    ElicitationAction, ElicitationContentValue, ElicitationSchema, StringPropertySchema,
};

/// The heading of the form.
pub(crate) const MESSAGE: &str = "Change the plan before it is carried out";

const FIELD: &str = "plan";

/// Returns a form with the current plan.
pub(crate) fn form(plan: &str) -> ElicitationSchema {
    let field = StringPropertySchema::new().title("Plan").default_value(plan.to_owned());
    ElicitationSchema::new().property(FIELD, field, true)
}

/// Returns the plan of a submitted form, or `None` if it has none.
pub(crate) fn changed(action: &ElicitationAction) -> Option<String> {
    let ElicitationAction::Accept(accepted) = action else { return None };
    match accepted.content.as_ref()?.get(FIELD)? {
        ElicitationContentValue::String(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::ElicitationAcceptAction;

    use super::*;

    #[test]
    fn form_starts_with_the_plan_and_returns_the_edited_one() {
        let form = serde_json::to_value(form("# Plan")).unwrap();
        assert_eq!(form["properties"]["plan"]["default"], "# Plan");
        let filled = |text: &str| {
            let fields = [(FIELD.to_owned(), ElicitationContentValue::String(text.to_owned()))];
            ElicitationAction::Accept(
                ElicitationAcceptAction::new()
                    .content(fields.into_iter().collect::<std::collections::BTreeMap<_, _>>()),
            )
        };
        assert_eq!(changed(&filled("# Better")).as_deref(), Some("# Better"));
        assert_eq!((changed(&filled(" \n")), changed(&ElicitationAction::Decline)), (None, None));
    }
}
