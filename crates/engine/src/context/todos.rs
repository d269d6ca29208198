//! The steps of the model's to-do list that are open. Pure.

use musher_message::{Content, Message};
use musher_tools::{Feature, Registry, Todo, TodoStatus};

/// The maximum number of steps in a reminder.
const MAX_STEPS: usize = 10;

/// The open steps of a to-do list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTodos {
    /// The id of the call that has written the list.
    pub call: String,
    /// The steps that are not completed.
    pub steps: Vec<Todo>,
}

impl OpenTodos {
    /// Returns the open steps of the newest list in a conversation, if it has any. The list is in the calls of tools that provide one.
    pub fn of<'a>(messages: impl DoubleEndedIterator<Item = &'a Message>, tools: &Registry) -> Option<Self> {
        let is_list = |name: &str| tools.info(name).is_some_and(|it| it.provides == Some(Feature::Todos));
        let newest = messages.rev().find_map(|message| {
            message.content.iter().rev().find_map(|part| match part {
                Content::ToolUse(call) if is_list(&call.name) => Some(call),
                _ => None,
            })
        })?;
        let steps = Todo::parse(newest.input.get("todos")?);
        let steps: Vec<Todo> =
            steps.into_iter().filter(|step| step.status != TodoStatus::Completed).collect();
        (!steps.is_empty()).then(|| Self { call: newest.id.clone(), steps })
    }

    /// Returns the text that reminds the model, which is about to end the turn.
    pub fn reminder(&self) -> String {
        let count = self.steps.len();
        let listed: String = self.lines().take(MAX_STEPS).flat_map(|line| ["\n".to_owned(), line]).collect();
        let more = count.checked_sub(MAX_STEPS).filter(|more| *more > 0);
        let more = more.map(|more| format!("\n({more} more)")).unwrap_or_default();
        format!(
            "Your to-do list has open steps ({count}):{listed}{more}\nIf they belong to the request, do them now. Otherwise update the \
             list. Then end with your complete final answer, because it replaces the one before."
        )
    }

    /// Returns the steps, one per line, with their status.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.steps.iter().map(|step| {
            let status = if step.status == TodoStatus::InProgress { "in_progress" } else { "pending" };
            format!("- [{status}] {}", step.text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use musher_message::{Role, ToolUse};
    use musher_tools::{Action, Category, Context, Input, Run, Tool, ToolInfo, ToolOutput};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    fn wrote(id: &str, todos: &str) -> Message {
        called("TodoWrite", id, todos)
    }

    fn called(tool: &str, id: &str, todos: &str) -> Message {
        let input = json!({ "todos": todos }).as_object().cloned().unwrap_or_default();
        let call = ToolUse::new(id, tool, input);
        Message::new(id, Role::Assistant, vec![Content::ToolUse(call)])
    }

    /// Another tool with a to-do list.
    #[derive(Debug)]
    struct Steps;

    const STEPS: ToolInfo =
        ToolInfo::new("steps", "Steps", Category::Read, "", || json!({})).provides(Feature::Todos);

    impl Tool for Steps {
        fn info(&self) -> &ToolInfo {
            &STEPS
        }

        fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
            Err("never called".to_owned())
        }

        fn run<'a>(&'a self, _input: Input, _context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
            Box::pin(async { ToolOutput::text("") })
        }
    }

    #[test]
    fn list_is_found_by_what_its_tool_provides() {
        let message = called("Steps", "a", "1. [pending] Test");
        assert_eq!(OpenTodos::of([&message].into_iter(), &Registry::builtin()), None);
        let mut tools = Registry::new();
        tools.add(Steps);
        assert_eq!(OpenTodos::of([&message].into_iter(), &tools).unwrap().call, "a");
        assert_eq!(OpenTodos::of([&wrote("a", "1. [pending] Test")].into_iter(), &tools), None);
    }

    #[test]
    fn newest_list_counts_and_a_completed_one_has_no_open_steps() {
        let open = wrote("a", "1. [completed] Look\n2. [in_progress] Fix\n3. [pending] Test");
        let done = wrote("b", "1. [completed] Look");
        let todos = OpenTodos::of([&done, &open].into_iter(), &Registry::builtin()).unwrap();
        assert_eq!(todos.call, "a");
        assert_eq!(todos.lines().collect::<Vec<_>>(), ["- [in_progress] Fix", "- [pending] Test"]);
        assert!(todos.reminder().starts_with("Your to-do list has open steps (2):\n- [in_progress] Fix\n"));
        assert_eq!(OpenTodos::of([&open, &done].into_iter(), &Registry::builtin()), None);
        assert_eq!(OpenTodos::of(std::iter::empty(), &Registry::builtin()), None);
    }

    #[test]
    fn long_list_is_shortened() {
        let list = (0..30).map(|number| format!("{number}. [pending] Step\n")).collect::<Vec<_>>().concat();
        let reminder =
            OpenTodos::of([&wrote("a", &list)].into_iter(), &Registry::builtin()).unwrap().reminder();
        assert!(reminder.contains("(30)") && reminder.contains("(20 more)"), "{reminder}");
    }
}
