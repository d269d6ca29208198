//! The official TypeScript SDK as the editor. Each scenario is a function; the lists below name the agents that it runs with.

mod asking;
mod beside;
mod changes;
mod directories;
mod dying;
mod editors_files;
mod editors_terminals;
mod engine;
mod options;
mod prompts;
mod real_droid;
mod sessions;
mod setup;
mod turns;

/// Runs scenarios with an agent: one test for each.
macro_rules! play {
    ($agent:expr; $($scenes:ident { $($scene:ident,)+ })+) => {
        $($(
            #[tokio::test]
            async fn $scene() -> anyhow::Result<()> {
                let sdk = testkit::require_peer!(testkit::peers::ACP_SDK);
                let who = crate::acp::stage::Who::new(sdk, $agent);
                crate::acp::peers::$scenes::$scene(&who).await
            }
        )+)+
    };
}

/// Scenarios for every agent.
macro_rules! play_everything {
    ($agent:expr) => {
        crate::acp::peers::play! { $agent;
            asking {
                a_new_file_is_shown_whole_before_it_is_allowed_and_is_there_afterwards,
                a_refused_command_does_not_run_and_an_allowed_one_shows_its_output,
                a_cancel_withdraws_the_question_and_nothing_runs,
                a_plan_is_shown_with_every_way_to_go_on,
                every_answer_to_a_plan_leads_to_its_mode,
                a_plan_can_be_changed_in_editors_that_have_forms,
                a_tool_of_the_editors_server_can_be_allowed_for_good,
                questions_are_a_form_for_editors_that_have_forms_and_buttons_for_others,
                several_questions_are_asked_one_by_one_and_can_be_declined,
            }
            changes {
                changes_are_shown_with_the_old_and_the_new_text_before_they_are_made,
            }
            options {
                modes_and_options_are_offered_changed_and_reported,
                the_effort_can_be_chosen_where_the_model_has_a_choice,
                a_to_do_list_is_the_plan_and_commands_of_ours_are_carried_out,
                every_command_of_ours_answers_without_the_model,
                a_command_of_the_agent_is_announced_and_carried_out,
                a_skill_is_announced_and_carried_out,
            }
            prompts {
                a_picture_reaches_the_model,
                links_and_embedded_files_reach_the_model,
                the_unsaved_text_of_a_linked_file_reaches_the_model,
                an_editor_that_does_not_tell_of_one_file_can_tell_of_another,
            }
            sessions {
                a_session_is_listed_loaded_with_its_history_resumed_forked_and_closed,
                a_deleted_session_is_gone,
                a_session_gets_the_title_that_was_chosen,
                the_editors_mcp_server_is_started_with_its_environment,
                the_editors_servers_on_the_network_are_reached_with_their_headers,
                two_sessions_at_once_do_not_hear_each_other,
                many_sessions_at_once_do_not_disturb_each_other,
                a_session_gets_a_title_by_itself,
                a_compacted_session_continues_under_its_id,
            }
            turns {
                an_answer_is_streamed_in_pieces_with_thoughts_and_ends_the_turn,
                initialize_announces_the_capabilities,
                a_line_that_is_not_json_is_refused_and_harms_nothing,
                what_is_unknown_is_refused_with_the_protocols_errors,
                a_cancelled_command_is_closed_and_the_next_prompt_gets_its_whole_answer,
                a_cancelled_answer_stops_and_the_next_prompt_gets_its_whole_answer,
                a_loaded_session_can_be_cancelled,
                two_prompts_at_once_are_answered_one_after_the_other,
                a_model_that_fails_is_an_error_of_the_prompt_and_the_session_continues,
                the_output_of_a_command_is_shown_while_it_runs,
            }
        }
    };
}

/// Scenarios for every agent in a process of its own.
macro_rules! play_deaths {
    ($agent:expr) => {
        crate::acp::peers::play! { $agent;
            dying {
                a_prompt_can_be_cancelled_while_the_agent_starts_again,
                an_agent_that_dies_fails_its_prompt_and_comes_back_with_the_history,
            }
        }
    };
}

use {play, play_deaths, play_everything};
