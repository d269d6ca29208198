//! The arguments of `musher models`.

const EXAMPLES: &str = "\
Examples:
  musher models               Models that have a key: limits, efforts and prices
  musher models gpt-6         Those whose name contains `gpt-6`
  musher models --all         The whole catalog, with models that have no key
  musher models --refresh     Ask the vendors which models they have now
  musher models --json        For scripts

Windows and answers are in tokens, prices in US dollars per million tokens of input and output. A model that is not listed works, too, \
as `<vendor>/<model>`. `modelOverrides` in settings.json corrects limits and prices.";

/// Show models with their limits, reasoning efforts and prices
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Models {
    /// Show only models whose name contains this
    pub(crate) query: Option<String>,

    /// Show models without a key, and those that vendors named besides the catalog
    #[arg(long)]
    pub(crate) all: bool,

    /// Ask the vendors that have a key which models they have, and remember the answers
    #[arg(long)]
    pub(crate) refresh: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}
