//! The scenarios with our engine behind `musher acp`.

use crate::acp::stage::Behind;

super::play_everything! { Behind::Engine }

super::play! { Behind::Engine;
    setup {
        without_a_model_it_is_said_what_to_do_and_a_script_can_be_played_instead,
        sessions_of_droid_are_listed_and_taken_over,
    }
}

/// In processes of its own.
mod as_a_program {
    use crate::acp::stage::Behind;

    crate::acp::peers::play_deaths! { Behind::EngineProgram }
}
