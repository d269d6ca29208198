//! The scenarios with our engine behind `musher acp`.

use crate::acp::stage::Behind;

super::play_everything! { Behind::Engine }

super::play! { Behind::Engine;
    directories {
        further_folders_belong_to_the_workspace_and_are_given_back,
    }
    editors_files {
        what_is_not_saved_is_read_changed_and_written_through_the_editor,
        what_the_editor_does_not_write_is_an_error_and_is_not_written,
        an_editor_that_does_not_answer_a_read_is_not_waited_for,
        a_write_that_is_not_answered_can_be_cancelled,
        files_outside_of_the_workspace_and_pictures_stay_with_the_disk,
    }
    editors_terminals {
        a_command_runs_in_the_editors_terminal_and_is_reported_like_any_other,
        a_long_output_of_a_terminal_is_shortened_and_saved,
        a_command_in_a_terminal_has_the_sandbox_of_every_command,
        a_cancelled_command_ends_with_everything_it_started,
        a_command_that_takes_too_long_ends_with_everything_it_started,
        an_editor_that_opens_no_terminal_does_not_stop_the_command,
        an_editor_that_never_opens_a_terminal_can_be_cancelled,
        an_editor_that_falls_silent_can_be_cancelled,
        when_the_editor_goes_the_commands_in_its_terminals_end,
    }
    setup {
        without_a_model_it_is_said_what_to_do_and_a_script_can_be_played_instead,
        sessions_of_droid_are_listed_and_taken_over,
    }
}

/// In processes of its own.
mod as_a_program {
    use crate::acp::stage::Behind;

    crate::acp::peers::play_deaths! { Behind::EngineProgram }

    crate::acp::peers::play! { Behind::EngineProgram;
        editors_files {
            what_is_not_saved_is_read_changed_and_written_through_the_editor,
            what_the_editor_does_not_write_is_an_error_and_is_not_written,
        }
        editors_terminals {
            a_command_runs_in_the_editors_terminal_and_is_reported_like_any_other,
            a_cancelled_command_ends_with_everything_it_started,
            when_the_editor_goes_the_commands_in_its_terminals_end,
        }
    }
}
