//! The clients of droid's vendor: they must see no difference between droid and an executable that replaces it.

suite! {
    /// Declares a test of each client: it must see the same of an [`Executable`](crate::Executable) as of droid.
    macro $ clients::clients(Executable)
    mod daemon {
        it_runs_musher_for_several_sessions_and_clients,
        our_daemon_plays_the_same_story_with_its_engine,
        our_daemon_plays_the_same_story_with_droid_as_its_worker,
    }
    mod keys {
        session_made_with_one_key_is_resumed_with_another,
    }
    mod list_tools {
        tools_are_listed_without_a_model,
    }
    mod python_sdk {
        it_sees_no_difference,
    }
}
