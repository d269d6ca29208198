//! The scenarios with the real droid behind `musher acp`.

use crate::acp::stage::Behind;

super::play_everything! { Behind::Droid(testkit::require_peer!(testkit::peers::DROID)) }
super::play_deaths! { Behind::Droid(testkit::require_peer!(testkit::peers::DROID)) }

super::play! { Behind::Droid(testkit::require_peer!(testkit::peers::DROID));
    setup {
        without_a_key_own_models_work_and_logging_in_says_what_to_do,
    }
}
