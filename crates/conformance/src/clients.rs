//! The clients of droid's vendor: what they see of an executable that takes droid's place.

suite! {
    /// Makes a test of each client: it must see of an [`Executable`](crate::Executable) what it sees of droid.
    macro $ clients::clients(Executable)
    mod daemon {
        it_runs_musher_for_several_sessions_and_clients,
    }
    mod list_tools {
        tools_are_listed_without_a_model,
    }
    mod python_sdk {
        it_sees_no_difference,
    }
}
