//! OAuth clients that people own. What needs a browser's consent has tests of its own.

use serde_json::json;

use super::{Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /api/oauth/clients", 5, |draw| {
            let (agent, owner) = draw.dice.one_of(&draw.world.agents).cloned()?;
            let actor = if draw.dice.chance(80) { owner } else { draw.anyone() };
            let body = json!({"name": text::display_name(draw.dice), "agent": agent});
            Some(Draft::call(&actor, "POST", "/api/oauth/clients").json(&body))
        }),
        operation("GET /api/oauth/clients", 4, |draw| {
            let (actor, limit) = (draw.person(), draw.limit());
            Some(Draft::call(&actor, "GET", format!("/api/oauth/clients?limit={limit}")).all_pages())
        }),
        operation("DELETE /api/oauth/clients/{client_id}", 3, |draw| {
            let client = draw.dice.recent(&draw.world.clients).cloned()?;
            Some(Draft::call(&draw.person(), "DELETE", format!("/api/oauth/clients/{}", reference(&client))))
        }),
        operation("GET /api/oauth/grants", 2, |draw| Some(Draft::call(&draw.person(), "GET", "/api/oauth/grants"))),
        operation("GET /api/admin/oauth-clients", 3, |draw| {
            let actor = if draw.dice.chance(80) { "root".to_owned() } else { draw.anyone() };
            Some(Draft::call(&actor, "GET", "/api/admin/oauth-clients?limit=2").all_pages())
        }),
    ]
}
