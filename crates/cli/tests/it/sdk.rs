//! The SDK, with `musher exec` as its agent and `musher daemon` as its daemon: every feature of the SDK's guide.

mod features {
    conformance::sdk_features!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
}
conformance::program_features!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
mod daemons {
    conformance::daemons!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
}
