//! `musher sessions compact`: a new session that begins with a summary of an old one. The only command on sessions that asks a model.

use std::sync::Arc;

use musher::Session;
use musher::wire::UpdateSessionSettingsParams;
use musher_engine::SessionId;

use super::stores::{SessionStores, explained};
use crate::args::sessions::Compact;
use crate::embedded;
use crate::exit::{Exit, Failure};
use crate::models;
use crate::printer::Printer;

pub(super) async fn run(stores: &SessionStores, args: &Compact, printer: Printer) -> Result<Exit, Failure> {
    let found = stores.find(&args.id)?;
    stores.store_to_change(&found)?;
    let environment = embedded::environment(args.model.as_deref(), None)?;
    let environment = Arc::new(environment);
    let agent = embedded::agent(Arc::clone(&environment));
    let session =
        Session::resume(found.summary.id.as_str()).agent(agent).open().await.map_err(Failure::setup)?;
    if let Some(model) = &args.model {
        let settings = UpdateSessionSettingsParams {
            model_id: Some(model.clone()),
            ..UpdateSessionSettingsParams::default()
        };
        session.update_settings(settings).await?;
    }
    let session = models::checked(args.model.as_deref(), session, Some(&environment)).await?;
    let compact = session.compact();
    let compact = match &args.instructions {
        Some(instructions) => compact.instructions(instructions),
        None => compact,
    };
    let compacted = compact.await;
    let closed = session.close().await;
    let compacted = compacted?;
    closed?;
    let id = compacted.session.id().to_string();
    compacted.session.close().await?;
    if let Some(id) = SessionId::parse(&id) {
        let stored = stores.ours.read(&id).map_err(explained)?;
        let summary = stored.compaction.map(|compacted| compacted.summary.summary).unwrap_or_default();
        printer.note(format!("{} messages replaced by this summary:\n", compacted.removed_messages));
        printer.note(crate::styled::Styled::from(summary.as_str()));
    }
    printer.data(id.as_str())?;
    Ok(Exit::Done)
}
