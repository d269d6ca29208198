//! Whether a tool call runs, is asked for, or is refused: a pure decision.
