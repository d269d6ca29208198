//! Sessions on disk: append-only, healed on opening, locked against a second writer.
