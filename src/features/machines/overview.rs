//! What administrators and operators see: principals, their keys, their use, and who was refused for what.

use stoa_db::Tx;
use stoa_model::machines::{MachineKeyView, MachinePage, MachineStanding, MachineSummary, MachineView, RegistryView};
use stoa_model::{PrincipalId, Timestamp, handles};
use stoa_registry::Registry;

use super::registry::{self, Memory};
use super::{status, store, tallies};
use crate::access::Actor;
use crate::error::HubError;
use crate::hub::Hub;
use crate::paging::{ListQuery, page_of};

/// All machine principals by name: those of the registry, and those that it once had.
pub async fn list_principals(hub: &Hub, actor: &Actor, list: ListQuery) -> Result<MachinePage, HubError> {
    actor.require_admin()?;
    // What this hub has counted and not written down yet belongs to the picture.
    tallies::flush(hub).await;
    let scope = "machine principals";
    let after: String = list.position(hub, actor, scope)?.unwrap_or_default();
    let limit = list.limit()?;
    let loaded = hub.memory::<Memory>().loaded();
    let rows = hub
        .read(move |tx| {
            let known = store::list_known(tx, &after, limit + 1)?;
            let registry = loaded.as_deref().map(|loaded| &loaded.registry);
            known
                .into_iter()
                .map(|(name, id)| Ok((handles::fold(&name), summary(tx, registry, &name, id)?)))
                .collect::<Result<Vec<_>, HubError>>()
        })
        .await?;
    Ok(MachinePage { page: page_of(hub, actor, scope, rows, limit)?, registry: registry::view(hub) })
}

pub async fn get_principal(hub: &Hub, actor: &Actor, principal_id: String) -> Result<MachineView, HubError> {
    actor.require_admin()?;
    tallies::flush(hub).await;
    let loaded = hub.memory::<Memory>().loaded();
    hub.read(move |tx| {
        let known = crate::features::principals::find(tx, &principal_id)?;
        let known = known.filter(|known| {
            known.kind == stoa_model::principals::PrincipalKind::Machine
                && !known.handle.starts_with(stoa_model::hooks::AUTHOR_PREFIX)
        });
        let known = known.ok_or_else(|| HubError::not_found("machine principal"))?;
        view(tx, loaded.as_deref().map(|loaded| &loaded.registry), &known.handle, known.id)
    })
    .await
}

/// Reads the registry's files again, at an operator's wish.
pub async fn reload(hub: &Hub, actor: &Actor) -> Result<RegistryView, HubError> {
    actor.require_admin()?;
    registry::reload(hub).await?;
    Ok(registry::view(hub))
}

/// All that there is to know.
fn view(tx: &mut Tx<'_>, registry: Option<&Registry>, name: &str, id: PrincipalId) -> Result<MachineView, HubError> {
    let now = tx.now_ms();
    let (components, configs) = (store::list_status(tx, id)?, store::list_configs(tx, id)?);
    Ok(MachineView {
        standing: standing(tx, registry, name, id)?,
        components: components.into_iter().map(|row| status::view(row, now)).collect(),
        source_configs: configs.into_iter().map(Into::into).collect(),
    })
}

fn summary(
    tx: &mut Tx<'_>,
    registry: Option<&Registry>,
    name: &str,
    id: PrincipalId,
) -> Result<MachineSummary, HubError> {
    Ok(MachineSummary {
        standing: standing(tx, registry, name, id)?,
        components: store::list_component_summaries(tx, id)?,
        source_configs: store::list_config_references(tx, id)?,
    })
}

fn standing(
    tx: &mut Tx<'_>,
    registry: Option<&Registry>,
    name: &str,
    id: PrincipalId,
) -> Result<MachineStanding, HubError> {
    let uses = store::list_uses(tx, id)?;
    let refusals = store::list_refusals(tx, id)?;
    let entry = registry.and_then(|registry| registry.principal(name));
    let mut keys = Vec::new();
    for key in entry.into_iter().flat_map(|entry| &entry.keys) {
        let used = uses.iter().find(|(kid, _)| *kid == key.kid).map(|(_, tally)| tally);
        let refused = registry.and_then(|registry| registry.find_key(name, &key.kid).err());
        keys.push(MachineKeyView {
            kid: key.kid.clone(),
            status: key.status.name().to_owned(),
            usable: refused.is_none(),
            reason: refused.map(|refused| refused.to_string()),
            scopes: key.scopes.iter().map(|scope| scope.name().to_owned()).collect(),
            fingerprint: key.fingerprint(),
            uses: used.map_or(0, |tally| tally.count),
            last_used_at: used.map(|tally| Timestamp::from_ms(tally.last_at)),
        });
    }
    Ok(MachineStanding {
        principal_id: name.to_owned(),
        registered: entry.is_some(),
        enabled: entry.is_some_and(|entry| entry.enabled),
        keys,
        last_used_at: uses.iter().map(|(_, tally)| tally.last_at).max().map(Timestamp::from_ms),
        last_refused_at: refusals.iter().map(|(_, tally)| tally.last_at).max().map(Timestamp::from_ms),
        refusals: refusals.into_iter().map(|(reason, tally)| (reason, tally.count)).collect(),
    })
}
