//! Makes a failing sequence shorter: leaves out more and more steps as long as it still fails in the same way.

use super::compare::{Failure, Hubs};
use super::from_environment;
use super::step::Step;

/// Steps that are carried out to find a shorter sequence, all attempts together, unless the environment says otherwise.
const MAX_STEPS: u64 = 15_000;

/// Carries out a sequence on new hubs.
pub(crate) async fn replay(mut hubs: Hubs, steps: &[Step]) -> Result<(), Failure> {
    let mut failure = None;
    for step in steps {
        if let Err(failed) = hubs.perform(step).await {
            failure = Some(failed);
            break;
        }
    }
    let finished = hubs.finish().await;
    failure.map_or(finished, Err)
}

/// How a sequence fails, if it fails in the same way.
async fn fails_alike(steps: &[Step], failure: &Failure, is_alone: bool) -> Option<Failure> {
    let hubs = if is_alone { Hubs::start_one().await } else { Hubs::start().await };
    let failed = replay(hubs, steps).await.err()?;
    Some(failed).filter(|failed| (failed.step, failed.kind) == (failure.step, failure.kind))
}

/// A shorter sequence that fails as `failure` says. The first `kept` steps set the scene, and stay.
pub(crate) async fn reduce(steps: Vec<Step>, kept: usize, failure: Failure) -> (Vec<Step>, Failure) {
    let mut steps: Vec<Step> = steps.into_iter().filter(|step| step.number <= failure.step).collect();
    // A fault that the model finds on one engine needs no other.
    let is_alone = failure.kind == "fault" && fails_alike(&steps, &failure, true).await.is_some();
    let mut failure = failure;
    let mut chunk = steps.len().saturating_sub(kept) / 2;
    let most = usize::try_from(from_environment("STOA_ENGINES_REDUCTION", MAX_STEPS)).unwrap();
    let mut carried_out = 0;
    while chunk > 0 && carried_out < most {
        let mut end = steps.len() - 1;
        let mut has_shrunk = false;
        // Late steps first: the scene that they need is made by earlier ones.
        while end > kept && carried_out < most {
            let start = end.saturating_sub(chunk).max(kept);
            let shorter: Vec<Step> = [&steps[..start], &steps[end..]].concat();
            carried_out += shorter.len();
            if let Some(again) = fails_alike(&shorter, &failure, is_alone).await {
                (steps, failure, has_shrunk) = (shorter, again, true);
            }
            end = start;
        }
        chunk = if chunk == 1 && has_shrunk { 1 } else { chunk / 2 };
    }
    (steps, failure)
}
