//! Accounts and sessions.

use serde_json::json;

use super::{Operation, operation};
use crate::engines::step::{Draft, reference};
use crate::engines::text;
use crate::support::PASSWORD;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        operation("POST /auth/login", 25, |draw| {
            let locked_out = draw.world.people.iter().find(|name| draw.world.locked_out.contains(*name));
            let mut name = locked_out.cloned().unwrap_or_else(|| draw.person());
            if draw.dice.chance(20) {
                name = name.to_uppercase();
            }
            let password = if draw.dice.chance(4) { "wrong" } else { PASSWORD };
            Some(Draft::call("nobody", "POST", "/auth/login").json(&json!({"username": name, "password": password})))
        }),
        operation("POST /auth/logout", 2, |draw| Some(Draft::call(&draw.anyone(), "POST", "/auth/logout"))),
        operation("GET /auth/me", 6, |draw| Some(Draft::call(&draw.anyone(), "GET", "/auth/me"))),
        operation("PUT /auth/password", 2, |draw| {
            let body = json!({"current_password": PASSWORD, "new_password": PASSWORD});
            Some(Draft::call(&draw.anyone(), "PUT", "/auth/password").json(&body))
        }),
        operation("PUT /auth/profile", 6, |draw| {
            let name = text::display_name(draw.dice);
            Some(Draft::call(&draw.person(), "PUT", "/auth/profile").json(&json!({"display_name": name})))
        }),
        operation("GET /auth/sessions", 5, |draw| {
            Some(Draft::call(&draw.person(), "GET", "/auth/sessions?limit=2").all_pages())
        }),
        operation("DELETE /auth/sessions", 2, |draw| Some(Draft::call(&draw.anyone(), "DELETE", "/auth/sessions"))),
        operation("DELETE /auth/sessions/{id}", 3, |draw| {
            let session = draw.dice.recent(&draw.world.sessions).cloned()?;
            Some(Draft::call(&draw.person(), "DELETE", format!("/auth/sessions/{}", reference(&session))))
        }),
        operation("POST /auth/register", 2, |draw| {
            let body = json!({"username": draw.name(), "password": PASSWORD, "invite": text::odd_name(draw.dice)});
            Some(Draft::call("nobody", "POST", "/auth/register").json(&body))
        }),
        operation("GET /api/admin/users", 4, |draw| {
            let actor = if draw.dice.chance(70) { "root".to_owned() } else { draw.anyone() };
            Some(Draft::call(&actor, "GET", "/api/admin/users?limit=3").all_pages())
        }),
        operation("GET /api/admin/audit", 4, |draw| {
            let actor = if draw.dice.chance(80) { "root".to_owned() } else { draw.anyone() };
            Some(Draft::call(&actor, "GET", "/api/admin/audit?limit=20"))
        }),
    ]
}
