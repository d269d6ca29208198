//! What the model is told besides the conversation: the system prompt, instructions of the project, facts of the machine.
