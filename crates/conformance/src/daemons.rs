//! The SDK as a client of daemons: the real `droid daemon` and `musher daemon` must serve it alike.

mod proxy;
mod stage;

suite! {
    /// Declares a test of each feature of the SDK's daemon client, with the daemon of an [`Executable`](crate::Executable).
    macro $ daemons::daemons(Executable)
    mod attach {
        two_clients_share_a_session_and_one_answers_its_request,
        running_turn_is_followed_by_a_client_that_attaches,
        detached_session_finishes_its_turn_and_is_resumed,
        request_stays_open_for_a_client_without_a_handler,
    }
    mod cuts {
        turn_survives_a_cut_at_every_message,
        daemon_that_restarts_gets_its_sessions_back,
    }
    mod many {
        sessions_on_one_connection_do_not_mix,
        reader_that_pauses_holds_up_no_other_session,
        lists_and_search_find_the_sessions,
    }
}
