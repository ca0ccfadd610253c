//! Planners: what follows from an event is stored with its cause, or neither is.

use serde_json::json;
use stoa::access::Actor;
use stoa::error::HubError;
use stoa::events::{Event, Outcome, PrincipalEvent, emit, work};
use stoa::hub::Hub;
use stoa_db::{Tx, params};
use stoa_model::PrincipalId;

use crate::support::{QUEUE, Recorder, TestHub};

/// Due so late that nobody takes it.
const NEVER: i64 = i64::MAX / 4;

fn handle_of(tx: &mut Tx<'_>, id: PrincipalId) -> Result<String, HubError> {
    Ok(tx.query_one("select handle from principals where id = $1", params![id.0], |row| row.get("handle"))?)
}

/// Plans work for every new principal, and refuses some.
fn plan_or_refuse(_: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    let Event::Principal(PrincipalEvent::Created { principal, .. }) = event else { return Ok(()) };
    let name = handle_of(tx, *principal)?;
    work::enqueue(tx, QUEUE, &name, NEVER)?;
    match name.as_str() {
        "refused" => Err(HubError::conflict("not_planned", "The planner does not want this.")),
        "panics" => panic!("the planner was told to panic"),
        _ => Ok(()),
    }
}

const STORED: &str =
    "select (select count(*) from principals) + (select count(*) from outbox) + (select count(*) from audit)
     + (select count(*) from work where queue = 'labour') + (select count(*) from agent_keys) as n";

#[tokio::test]
async fn a_plan_is_stored_with_its_cause() {
    let hub = TestHub::setup().planner(plan_or_refuse).start().await;
    let ada = hub.human("ada").await;
    ada.agent("scout").await;
    // The answer came after both.
    let planned: Result<Vec<String>, stoa_db::DbError> = hub
        .inner()
        .read(|tx| {
            tx.query("select subject from work where queue = $1 order by id", params![QUEUE], |row| row.get("subject"))
        })
        .await;
    assert_eq!(planned.unwrap(), ["admin", "ada", "scout"]);
    hub.finish().await;
}

#[tokio::test]
async fn a_planner_that_refuses_undoes_the_command() {
    let hub = TestHub::setup().planner(plan_or_refuse).start().await;
    let ada = hub.human("ada").await;
    let before = hub.count(STORED).await;
    let request = json!({"name": "refused"});
    ada.post("/api/agents", &request).await.problem(409, "not_planned");
    ada.post("/api/agents", &request).header("idempotency-key", "k").await.problem(409, "not_planned");
    assert_eq!(hub.count(STORED).await, before);
    assert!(ada.list("/api/agents").await.is_empty());
    ada.agent("scout").await;
    hub.finish().await;
}

#[tokio::test]
async fn a_planner_that_panics_undoes_its_own_command_only() {
    let hub = TestHub::setup().planner(plan_or_refuse).may_fail().start().await;
    let ada = hub.human("ada").await;
    let before = hub.count(STORED).await;
    ada.post("/api/agents", &json!({"name": "panics"})).may_fail().await.problem(500, "internal");
    assert_eq!(hub.count(STORED).await, before);
    ada.agent("scout").await;
    hub.finish().await;
}

/// Lets every update be followed by another one.
fn without_end(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    let Event::Principal(PrincipalEvent::Updated { principal }) = event else { return Ok(()) };
    emit(hub, tx, &Actor::system(), PrincipalEvent::Updated { principal: *principal })?;
    Ok(())
}

#[tokio::test]
async fn planners_that_feed_each_other_without_end_are_stopped() {
    let hub = TestHub::setup().planner(without_end).may_fail().start().await;
    let ada = hub.human("ada").await;
    let before = hub.count(STORED).await;
    let reply = ada.put("/auth/profile", &json!({"display_name": "Other"})).may_fail().await.problem(500, "internal");
    assert!(!reply.text().contains("without end"), "the cause is nobody's business: {reply:?}");
    assert_eq!(hub.count(STORED).await, before);
    assert_eq!(ada.get("/auth/me").await.json()["user"]["display_name"], "ada");
    hub.finish().await;
}

/// Says once more of every new principal that it changed.
fn one_more(hub: &Hub, tx: &mut Tx<'_>, event: &Event, _: &mut Outcome) -> Result<(), HubError> {
    let Event::Principal(PrincipalEvent::Created { principal, .. }) = event else { return Ok(()) };
    emit(hub, tx, &Actor::system(), PrincipalEvent::Updated { principal: *principal })?;
    Ok(())
}

#[tokio::test]
async fn a_planner_may_emit_events_of_its_own() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().planner(one_more).listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let ada = hub.human("ada").await;
    // Many in one command are no depth.
    let (inner, id) = (hub.inner().clone(), PrincipalId(ada.id));
    let emitted = hub.inner().write(move |tx| {
        for _ in 0..20 {
            emit(&inner, tx, &Actor::system(), PrincipalEvent::Updated { principal: id })?;
        }
        Ok::<_, HubError>(())
    });
    emitted.await.unwrap();
    hub.settle().await;
    let events = recorder.events();
    assert!(matches!(events[0], Event::Principal(PrincipalEvent::Created { principal, .. }) if principal == id));
    assert_eq!(events[1..], vec![PrincipalEvent::Updated { principal: id }.into(); 21]);
    hub.finish().await;
}

#[tokio::test]
async fn what_happens_to_principals_is_an_event() {
    let recorder = Recorder::new("recorder");
    let hub = TestHub::setup().listener(recorder.clone()).start().await;
    hub.settle().await;
    recorder.forget();
    let ada = hub.human("ada").await;
    let scout = ada.agent("scout").await;
    ada.put("/auth/profile", &json!({"display_name": "Ada"})).await.ok();
    ada.patch("/api/agents/scout", &json!({"instructions": "x"})).await.ok();
    ada.call("POST", "/api/agents/scout/pause").await.ok();
    hub.operator().call("users.role", json!({"username": "ada", "role": "admin"})).await;
    hub.operator().call("users.disable", json!({"username": "ada"})).await;
    hub.operator().call("users.enable", json!({"username": "ada"})).await;
    hub.log_in("ada").await.delete("/api/agents/scout").await.ok();
    hub.settle().await;
    let (ada_id, scout_id) = (PrincipalId(ada.id), PrincipalId(scout.id));
    use stoa_model::principals::PrincipalKind::{Agent, User};
    let expected = [
        PrincipalEvent::Created { principal: ada_id, principal_kind: User, owner: None },
        PrincipalEvent::Created { principal: scout_id, principal_kind: Agent, owner: Some(ada_id) },
        PrincipalEvent::Updated { principal: ada_id },
        PrincipalEvent::Updated { principal: scout_id },
        PrincipalEvent::Updated { principal: scout_id },
        PrincipalEvent::Updated { principal: ada_id },
        PrincipalEvent::Updated { principal: ada_id },
        PrincipalEvent::Updated { principal: ada_id },
        PrincipalEvent::Deleted { principal: scout_id },
    ];
    assert_eq!(recorder.events(), expected.map(Event::Principal));
    let seen = recorder.seen();
    assert_eq!(seen[0].actor, None, "the operator is no principal");
    assert_eq!(seen[1].actor, Some(ada_id));
    assert_eq!(seen[1].at_ms, crate::support::START_MS);
    hub.finish().await;
}
