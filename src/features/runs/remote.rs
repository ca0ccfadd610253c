//! Agents that run elsewhere: a run is a signed request to their address. The receiver answers at once, or takes the run on and
//! sends its result later, with the token of the run.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use stoa_db::Tx;
use stoa_model::permissions::Permission;
use stoa_model::runs::{MAX_RESULT_BYTES, ResultRequest, RunReason, RunStatus, RunView};
use stoa_model::{PrincipalId, RunId, Secret};
use stoa_outbound::{Answer, Limits, OutboundError, Url};
use zeroize::Zeroizing;

use super::begin::{Job, LEASE};
use super::control::Entry;
use super::execution::Outcome;
use super::finish::{self, Ending, Outage};
use super::harness_store::{self, Report};
use super::result::{self, ProgramResult};
use super::{output, progress, remote_store, service, store};
use crate::access::Actor;
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::features::webhooks::{self, Outgoing};
use crate::features::{agents, audit, secrets};
use crate::hub::{Hub, pause};
use crate::storage::keys::{KeyRing, Purpose};

/// How long a receiver may take to answer. One that needs longer takes the run on.
const CALL: Duration = Duration::from_secs(60);
/// For how long the hub is believed to call: nobody extends that.
pub(super) const CALL_LEASE: Duration = CALL.saturating_add(LEASE);
/// Between two looks whether the run is to end.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const MAX_RETRY_AFTER: i64 = 24 * 3600;

/// What is sent.
pub(super) struct Call {
    url: String,
    secret: Zeroizing<Vec<u8>>,
    body: Value,
}

impl Call {
    /// The host, for people: the rest of an address may be nobody's business.
    pub(super) fn host(&self) -> String {
        Url::parse(&self.url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
    }

    pub(super) fn new(
        hub: &Hub,
        tx: &mut Tx<'_>,
        agent: PrincipalId,
        url: &str,
        body: Value,
    ) -> Result<Self, HubError> {
        let keys = hub.keys();
        let secret = match remote_store::find_secret(tx, agent)? {
            Some(sealed) => open(&keys, agent, &sealed)?,
            // The owner asks for another one, which is shown then.
            None => replace_secret(tx, &keys, agent)?,
        };
        Ok(Self { url: url.to_owned(), secret, body })
    }
}

/// Sends the request, and concludes from the answer.
pub(super) async fn execute(hub: &Hub, job: &Job, call: &Call, entry: &Entry) -> Outcome {
    let sent = send(hub, job, call);
    tokio::pin!(sent);
    loop {
        tokio::select! {
            answer = &mut sent => return conclude(hub, job, answer).await,
            () = hub.stopping() => return Outcome::HubStopping,
            () = entry.bell.notified() => {}
            () = pause(LOOK_EVERY) => {}
        }
        let id = job.run.id;
        match hub.read(move |tx| store::find_run(tx, id)).await {
            Ok(Some(row)) if row.status == RunStatus::Running => {
                if let Some(reason) = row.stop_reason {
                    let ending =
                        Ending { status: RunStatus::Cancelled, ..Ending::failed(reason, finish::in_words(reason)) };
                    return Outcome::Ended(Box::new(ending));
                }
            }
            // Its result was there before the answer.
            Ok(_) => return Outcome::GivenUp,
            Err(_) => {}
        }
    }
}

async fn send(hub: &Hub, job: &Job, call: &Call) -> Result<Answer, OutboundError> {
    let id = format!("run_{}_{}", job.run.id, job.run.attempt);
    let signed = webhooks::sign_with(vec![call.secret.clone()]);
    let request = Outgoing::new(&call.url, &id, job.run.depth, &call.body, &signed, hub.clock().now_ms());
    let (Ok(request), Ok(client)) = (request, hub.outbound()) else { return Err(OutboundError::Broken) };
    let most = usize::try_from(MAX_RESULT_BYTES).unwrap_or(usize::MAX).saturating_add(1);
    let limits = Limits { total_timeout: CALL.min(job.time_limit), max_answer_bytes: most, ..Limits::default() };
    client.with_limits(limits).send(request.request()).await
}

async fn conclude(hub: &Hub, job: &Job, answer: Result<Answer, OutboundError>) -> Outcome {
    let failed = |detail: String| Outcome::Ended(Box::new(Ending::failed(RunReason::ReceiverFailed, detail)));
    let answer = match answer {
        Ok(answer) => answer,
        // One word only: it must not describe a network that the owner cannot see.
        Err(error) => return failed(format!("The receiver could not be called: {}.", error.code())),
    };
    match answer.status {
        StatusCode::OK if answer.body.len() as u64 > MAX_RESULT_BYTES => {
            let detail = "The answer of the receiver is larger than 256 KiB.";
            Outcome::Ended(Box::new(Ending::failed(RunReason::BadResult, detail)))
        }
        StatusCode::OK => Outcome::Ended(Box::new(match result::parse(&answer.body) {
            Ok(result) => ending_of(job.masker.as_ref(), result, None),
            Err(fault) => Ending::failed(RunReason::BadResult, format!("The answer of the receiver {fault}.")),
        })),
        StatusCode::ACCEPTED => {
            let (hub_in, run, until) = (hub.clone(), job.run.clone(), job.deadline_ms);
            let noted = hub.write(move |tx| {
                if store::update_taken_on(tx, &run, hub_in.instance(), until)? {
                    return Ok(None);
                }
                let now = store::find_run(tx, run.id)?.filter(|now| now.status == RunStatus::Running);
                Ok::<_, HubError>(now.and_then(|now| now.stop_reason))
            });
            match noted.await {
                Ok(None) => Outcome::GivenUp,
                // Somebody has cancelled it while the receiver answered.
                Ok(Some(reason)) => {
                    let ending = Ending::failed(reason, finish::in_words(reason));
                    Outcome::Ended(Box::new(Ending { status: RunStatus::Cancelled, ..ending }))
                }
                // It is settled as one whose hub was lost.
                Err(error) => {
                    tracing::warn!(run = job.run.id.0, %error, "it could not be noted that a receiver has taken a run on");
                    Outcome::GivenUp
                }
            }
        }
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let detail = format!("The receiver answered {}.", answer.status.as_u16());
            let until_ms = retry_after(&answer.headers).map(|after| hub.clock().now_ms() + after);
            let ending = Ending::failed(RunReason::ModelUnavailable, detail);
            Outcome::Ended(Box::new(Ending { outage: Some(Outage { until_ms }), ..ending }))
        }
        status => failed(format!("The receiver answered {}.", status.as_u16())),
    }
}

fn retry_after(headers: &HeaderMap) -> Option<i64> {
    let seconds: i64 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    (0..=MAX_RETRY_AFTER).contains(&seconds).then_some(seconds * 1000)
}

/// How a run ended, from what its receiver says.
fn ending_of(masker: &stoa_model::masking::Masker, result: ProgramResult, error: Option<&str>) -> Ending {
    let clean = |text: &str| masker.mask(&output::cleaned(text)).into_owned();
    let mut ending = match error {
        None => Ending {
            status: RunStatus::Succeeded,
            reason: None,
            ..Ending::failed(RunReason::ModelError, "The receiver has answered.")
        },
        Some(said) => {
            let said: String = clean(said).chars().take(MAX_ERROR).collect();
            Ending::failed(RunReason::ModelError, format!("The receiver reported an error. {said}").trim_end())
        }
    };
    ending.answer = result.response.as_deref().map(clean);
    let response = ending.answer.as_deref().map(|answer| progress::cut_at(answer, stoa_model::runs::MAX_STORED_TEXT));
    ending.report = Report {
        response: response.map(|(text, _)| text.to_owned()),
        is_truncated: response.is_some_and(|(_, is_cut)| is_cut),
        session_id: result.session_id.filter(|id| !masker.finds_secret(id)),
        tokens_in: result.tokens_in,
        tokens_out: result.tokens_out,
        tokens_cached: result.tokens_cached,
        cost_usd: result.cost_usd,
        error_log: (ending.status == RunStatus::Failed).then(|| ending.detail.clone()),
        ..Report::default()
    };
    ending
}

/// What is kept of an error, in characters.
const MAX_ERROR: usize = 500;

/// Settles a run with what its receiver found out, later than its answer. Only the token of the run can.
pub async fn submit_result(hub: &Hub, actor: &Actor, id: RunId, request: ResultRequest) -> Result<RunView, HubError> {
    actor.require(Permission::MessagesWrite)?;
    let Some(credential) = actor.principal.run() else {
        return Err(HubError::forbidden(
            "run_token_required",
            "Only the run itself can send its result, with its token.",
        ));
    };
    if credential.run != id {
        return Err(HubError::not_found("run"));
    }
    let bytes = serde_json::to_vec(&request).map_err(HubError::internal)?;
    if bytes.len() as u64 > MAX_RESULT_BYTES {
        return Err(HubError::invalid_field("response", "must be shorter: a result can have 256 KiB"));
    }
    let error = request.error.clone();
    let result = result::parse(&bytes).map_err(|fault| HubError::invalid_field("response", fault))?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let row = store::find_run(tx, id)?.ok_or_else(|| HubError::not_found("run"))?;
        if row.status != RunStatus::Running {
            return Err(HubError::conflict("run_settled", "The run has already ended."));
        }
        if !harness_store::is_remote(tx, id)? {
            return Err(HubError::conflict(
                "not_remote",
                "The run has its command on the hub, which sees its result by itself.",
            ));
        }
        let masker = secrets::secrets_of_run(&hub_in, tx, row.agent, row.is_foreign)?.masker();
        finish::settle(&hub_in, tx, &row, &ending_of(&masker, result.clone(), error.as_deref()))?;
        let row = store::find_run(tx, id)?.ok_or_else(|| HubError::not_found("run"))?;
        service::view(tx, &actor_in, row)
    })
    .await
}

/// Ends a run that a receiver has taken on: nobody on this hub waits for it.
pub(super) fn stop(hub: &Hub, tx: &mut Tx<'_>, run: &store::RunRow, reason: RunReason) -> Result<(), HubError> {
    let ending = Ending { status: RunStatus::Cancelled, ..Ending::failed(reason, finish::in_words(reason)) };
    finish::settle(hub, tx, run, &ending)
}

/// The receiver has not sent its result in time.
pub(super) fn time_out(hub: &Hub, tx: &mut Tx<'_>, run: &store::RunRow) -> Result<(), HubError> {
    let detail = "The receiver sent no result within the time limit.";
    let ending = Ending { status: RunStatus::TimedOut, ..Ending::failed(RunReason::Timeout, detail) };
    finish::settle(hub, tx, run, &ending)
}

/// Draws a new secret for the calls to an agent that runs elsewhere. The one before signs no more.
pub async fn new_secret(hub: &Hub, actor: &Actor, name: String) -> Result<Secret, HubError> {
    actor.require_session()?;
    let (hub_in, actor_in) = (hub.clone(), actor.clone());
    hub.command(actor, move |tx| {
        let agent = agents::require_managed(tx, &actor_in, &name)?;
        let secret = replace_secret(tx, &hub_in.keys(), agent)?;
        audit::record(tx, &actor_in, "agent.run_secret_replaced", Some(&name), &json!({}))?;
        Ok(webhooks::render_secret(&secret))
    })
    .await
}

fn replace_secret(tx: &mut Tx<'_>, keys: &KeyRing, agent: PrincipalId) -> Result<Zeroizing<Vec<u8>>, HubError> {
    let secret: [u8; 32] = tx.random_bytes();
    let sealed = seal(tx, keys, agent, &secret)?;
    remote_store::update_secret(tx, agent, &sealed)?;
    Ok(Zeroizing::new(secret.to_vec()))
}

/// Seals all secrets with the current key, so that an older one can go.
pub(super) fn seal_again(tx: &mut Tx<'_>, keys: &KeyRing) -> Result<(), HubError> {
    for (agent, sealed) in remote_store::list_secrets(tx)? {
        let secret = open(keys, agent, &sealed)?;
        let sealed = seal(tx, keys, agent, &secret)?;
        remote_store::update_secret(tx, agent, &sealed)?;
    }
    Ok(())
}

fn seal(tx: &mut Tx<'_>, keys: &KeyRing, agent: PrincipalId, secret: &[u8]) -> Result<Vec<u8>, HubError> {
    keys.seal(Purpose::WebhookSecret, &context(agent), tx.random_bytes(), secret).map_err(HubError::internal)
}

fn open(keys: &KeyRing, agent: PrincipalId, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, HubError> {
    keys.open(Purpose::WebhookSecret, &context(agent), sealed).map_err(HubError::internal)
}

fn context(agent: PrincipalId) -> String {
    format!("runs of {agent}")
}

/// The moment until which the hub is believed to call.
pub(super) fn call_until(now_ms: i64) -> i64 {
    now_ms + milliseconds(CALL_LEASE)
}
