//! Extension of musher: files and terminals of the client's editor.
//!
//! A client announces them with [`ClientCapabilities`]; an agent requests nothing that was not announced.

use crate::Count;
use crate::object::object;

/// The notification of an agent that does not wait for a response any more.
pub const CANCEL_REQUEST: &str = "musher.cancel_request";

object! {
    /// What a client offers besides the protocol of droid, in the params of `initialize_session` and `load_session`.
    pub struct ClientCapabilities {} optional {
        /// Files and terminals of an editor.
        editor: EditorCapabilities = "musher.editor",
    }
}

object! {
    /// What an agent uses besides the protocol of droid, in the results of `initialize_session` and `load_session`. Only sent
    /// to clients that announced it.
    pub struct AgentCapabilities {} optional {
        /// The files and terminals of the client's editor that the agent uses.
        editor: EditorCapabilities = "musher.editor",
    }
}

object! {
    /// Which requests an editor takes.
    pub struct EditorCapabilities {} optional {
        /// `musher.read_text_file`
        read_text_file: bool = "readTextFile",
        /// `musher.write_text_file`
        write_text_file: bool = "writeTextFile",
        /// All requests about terminals.
        terminal: bool = "terminal",
    }
}

object! {
    /// Arguments of `read_text_file`.
    pub struct ReadTextFileParams {
        /// Absolute.
        path: String = "path",
    }
}

object! {
    /// Answer of `read_text_file`.
    pub struct ReadTextFileResult {
        /// The text with its unsaved changes.
        text: String = "text",
    }
}

object! {
    /// Arguments of `write_text_file`, which also saves the file.
    pub struct WriteTextFileParams {
        /// Absolute.
        path: String = "path",
        /// The complete new content.
        text: String = "text",
    }
}

object! {
    /// Arguments of `create_terminal`.
    pub struct CreateTerminalParams {
        /// The program to run.
        command: String = "command",
        /// Absolute.
        cwd: String = "cwd",
    } optional {
        /// Arguments of the program.
        args: Vec<String> = "args",
        /// Variables besides those that the editor sets.
        env: Vec<TerminalVariable> = "env",
        /// How many bytes of output the editor keeps: the last ones.
        output_byte_limit: Count = "outputByteLimit",
    }
}

object! {
    /// An environment variable of a terminal.
    pub struct TerminalVariable {
        /// Name of the variable.
        name: String = "name",
        /// Value of the variable.
        value: String = "value",
    }
}

object! {
    /// Answer of `create_terminal`.
    pub struct CreateTerminalResult {
        /// The terminal's id, chosen by the editor.
        terminal_id: String = "terminalId",
    }
}

object! {
    /// Arguments of the requests about one terminal.
    pub struct TerminalParams {
        /// The terminal's id, chosen by the editor.
        terminal_id: String = "terminalId",
    }
}

object! {
    /// Answer of `terminal_output`.
    pub struct TerminalOutputResult {
        /// The output so far, standard output and standard error together.
        output: String = "output",
        /// Whether the beginning of the output is missing.
        truncated: bool = "truncated",
    }
}

object! {
    /// Answer of `wait_for_terminal_exit`.
    pub struct WaitForTerminalExitResult {} optional {
        /// Exit code of the program. Absent if a signal ended it.
        exit_code: Count = "exitCode",
        /// The name of the signal that ended the program.
        signal: String = "signal",
    }
}

object! {
    /// Params of [`CANCEL_REQUEST`].
    pub struct CancelRequestParams {
        /// Id of the request that needs no answer any more.
        request_id: String = "requestId",
    }
}
