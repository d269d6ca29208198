//! The SDK and `musher exec` as its agent: every feature of the SDK's guide.

mod features {
    conformance::sdk_features!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
}
conformance::program_features!(conformance::Executable::Musher(env!("CARGO_BIN_EXE_musher").into()));
