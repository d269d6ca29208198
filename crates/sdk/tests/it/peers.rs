//! The features of the guide on the real droid, and tests that need it: old versions, its own files, the examples.

mod examples;
mod python_list;

mod features {
    conformance::sdk_features!(conformance::Executable::Droid(testkit::require_peer!(testkit::peers::DROID)));
}
mod daemons {
    conformance::daemons!(conformance::Executable::Droid(testkit::require_peer!(testkit::peers::DROID)));
}
conformance::program_features!(conformance::Executable::Droid(testkit::require_peer!(testkit::peers::DROID)));
conformance::old_droid_features!(conformance::Executable::Droid(testkit::require_peer!(
    testkit::peers::DROID_OLD
)));
