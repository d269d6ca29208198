//! The features of the SDK's guide, each tried on an agent with a scripted model.

suite! {
    /// Makes a test of every feature, with an agent that may live in the process of the test.
    macro $ features::sdk_features(dyn Target)
    mod compact {
        compacted_session_continues_with_its_summary,
    }
    mod control {
        autonomy_decides_what_runs_without_asking,
        tools_are_switched_off_and_on_and_listed,
        model_and_effort_are_chosen_at_the_beginning_and_in_between,
    }
    mod errors {
        a_model_that_refuses_gives_a_result_that_says_so,
        retries_are_reported_and_retracted_text_is_not_in_the_answer,
        a_droid_refuses_a_folder_that_is_not_there,
    }
    mod handlers {
        handler_decides_and_failing_handler_denies,
        closures_decide_for_creating_and_editing_files,
        questions_are_answered_or_declined,
        without_a_handler_questions_are_declined,
        requests_on_the_stream_are_answered_dropped_and_interrupted,
        questions_on_the_stream_are_answered_or_dropped,
    }
    mod hooks {
        hooks_are_seen_as_they_begin_and_end,
    }
    mod limits {
        prompts_wait_in_line_or_are_refused,
        turns_end_when_they_take_too_long_or_too_much,
        closing_ends_a_running_turn_and_dropping_everything_ends_the_agent,
    }
    mod mcp {
        tools_of_this_process_are_called_by_the_agent_and_stop_with_the_session,
        a_tool_or_a_whole_server_is_allowed_for_good,
        servers_of_the_agent_are_added_listed_toggled_and_removed,
    }
    mod media {
        pictures_and_documents_reach_the_model,
    }
    mod observe {
        tokens_are_counted_for_each_turn_and_live,
        skills_models_and_commands_are_listed_and_notifications_can_be_watched,
        files_go_back_to_how_they_were_before_a_message,
    }
    mod options {
        options_reach_the_agent_and_the_model,
    }
    mod recording {
        a_recorded_turn_plays_again_without_droid,
        a_session_without_async_drives_droid,
    }
    mod runs {
        a_run_gives_one_result_and_leaves_nothing,
        answers_become_values_and_mismatches_are_kept_in_the_error,
        a_bad_schema_is_refused_before_anything_is_sent,
    }
    mod sessions {
        a_session_remembers_and_can_be_renamed_forked_and_resumed,
        a_session_that_is_not_there_is_not_found,
    }
    mod sessions_on_disk {
        a_stored_conversation_reads_as_droid_loads_it,
    }
    mod spec {
        plans_are_refused_accepted_edited_and_handed_over,
        a_plan_is_handed_over_at_every_level,
    }
    mod streams {
        a_plain_stream_has_the_whole_pieces_in_order,
        a_partial_stream_has_the_small_pieces_too,
        a_turn_is_stopped_while_it_streams_runs_a_tool_or_waits_and_the_next_one_works,
        a_turn_is_stopped_while_permission_is_pending,
    }
    mod turns {
        a_permitted_command_runs_and_the_turn_completes,
        without_a_handler_permission_is_refused_and_the_turn_says_so,
    }
}

suite! {
    /// Makes a test of each feature that needs an agent in a process of its own.
    macro $ features::program_features(dyn Target)
    mod program {
        an_agent_that_is_killed_ends_the_turn_with_its_status,
        variables_reach_the_agent_and_its_commands,
    }
}

suite! {
    /// Makes a test of each feature that an old droid has.
    macro $ features::old_droid_features(dyn Target)
    mod old_droid {
        a_plain_stream_has_the_whole_pieces_in_order,
        questions_are_answered_or_declined,
        a_session_that_is_not_there_is_not_found,
        old_droid_forks_and_resumes_and_refuses_unknown_calls,
        interrupted_old_droid_stays_usable,
        an_old_droid_that_announces_no_end_is_followed_to_its_end,
    }
}
