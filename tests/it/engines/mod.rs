//! Both engines do the same: a random sequence of operations goes to a hub on each of them, and every answer has to be equal.
//!
//! `scripts/check-engines` does this with as many seeds and operations as one likes. A sequence that fails is made shorter and
//! printed; `STOA_ENGINES_STEPS` names a file with such steps to carry them out again.

mod compare;
mod dice;
mod model;
mod names;
mod operations;
mod reduce;
mod run;
mod step;
mod text;
mod together;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::support::on_postgres;
use compare::{Failure, Hubs};
use dice::Dice;
use operations::{Draw, Operation};
use run::PEOPLE;
use step::{Draft, Step};
use world::World;

/// How much is tried. The environment gives the plan; its defaults are short, because every run of the tests uses them.
struct Plan {
    seed: u64,
    seeds: u64,
    operations: usize,
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

impl Plan {
    fn new() -> Self {
        // Without a second engine only the model checks the answers, which takes fewer operations.
        let operations = if on_postgres() { 2000 } else { 500 };
        Self {
            // Always the same one, so that the tests fail only when something has changed. The script draws others.
            seed: from_environment("STOA_ENGINES_SEED", 1),
            seeds: from_environment("STOA_ENGINES_SEEDS", 1),
            operations: usize::try_from(from_environment("STOA_ENGINES_OPERATIONS", operations)).unwrap(),
        }
    }
}

/// The first steps of every sequence: they give agents to everybody and make channels of all kinds.
fn prelude() -> Vec<Step> {
    let mut drafts = vec![Draft::call("ada", "GET", "/api/channels/general")];
    for person in PEOPLE {
        for number in 1..=2 {
            let name = format!("{}-{number}", person.to_lowercase());
            drafts.push(Draft::call(person, "POST", "/api/agents").json(&json!({"name": name})));
        }
    }
    for (owner, name, public, members) in [
        ("ada", "work", true, ["ada-1", "bob-1"]),
        ("Bob", "den", false, ["bob-1", "eve"]),
        ("cy_d", "ops", true, ["ada-2", "eve-1"]),
        ("DORA", "lab", false, ["dora-1", "ada-1"]),
    ] {
        drafts.push(Draft::call(owner, "POST", "/api/channels").json(&json!({"name": name, "public": public})));
        for member in members {
            drafts.push(Draft::call(owner, "PUT", format!("/api/channels/{name}/members/{member}")));
        }
    }
    for (owner, name) in [("ada", "work"), ("DORA", "lab")] {
        let path = format!("/api/channels/{name}/settings");
        drafts.push(Draft::call(owner, "PUT", path).json(&json!({"workflow_enabled": true})));
    }
    drafts.into_iter().enumerate().map(|(place, draft)| draft.numbered(place + 1)).collect()
}

/// How often each operation got each answer.
type Figures = BTreeMap<&'static str, BTreeMap<u16, usize>>;

fn draw(dice: &mut Dice, world: &World, operations: &[Operation], number: usize) -> (&'static str, Step) {
    let total: usize = operations.iter().map(|operation| operation.weight).sum();
    loop {
        let mut place = dice.below(total);
        let drawn = operations.iter().find(|operation| {
            let is_here = place < operation.weight;
            place = place.saturating_sub(operation.weight);
            is_here
        });
        let Some(operation) = drawn else { continue };
        let Some(draft) = (operation.draw)(&mut Draw { dice, world }) else { continue };
        let draft = operations::spice(dice, world, number, draft);
        return (operation.name, draft.numbered(number));
    }
}

/// Draws operations and carries them out. Returns the steps that were carried out, with what went wrong at the last of them.
async fn explore(seed: u64, count: usize, figures: &mut Figures) -> (Vec<Step>, Result<(), Failure>) {
    let operations = operations::all();
    let (mut dice, mut world, mut hubs) = (Dice::new(seed), World::new(), Hubs::start().await);
    let mut steps = prelude();
    let scene = steps.len();
    for number in 1..=scene + count {
        let name = if number > scene {
            let (name, step) = draw(&mut dice, &world, &operations, number);
            steps.push(step);
            name
        } else {
            "prelude"
        };
        let step = &steps[number - 1];
        match hubs.perform(step).await {
            Ok(Some(answer)) => {
                world.learn(step, &answer);
                *figures.entry(name).or_default().entry(answer.status).or_default() += 1;
            }
            Ok(None) => {}
            Err(failure) => {
                let _ = hubs.finish().await;
                return (steps, Err(failure));
            }
        }
    }
    (steps, hubs.finish().await)
}

fn report(seed: &str, steps: &[Step], failure: &Failure) -> ! {
    let scene = prelude().len();
    let lines: Vec<String> = steps.iter().filter(|step| step.number > scene).map(ToString::to_string).collect();
    let last = steps.iter().find(|step| step.number == failure.step).map(Step::summary).unwrap_or_default();
    panic!(
        "{} at step {} ({last}), seed {seed}. The steps that lead to it, after those of prelude():\n{}\n{}",
        failure.kind,
        failure.step,
        lines.join("\n"),
        failure.report
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_give_the_same_answers() {
    if let Ok(path) = std::env::var("STOA_ENGINES_STEPS") {
        let text = std::fs::read_to_string(path).unwrap();
        let steps = text.lines().map(|line| serde_json::from_str(line).unwrap());
        let steps: Vec<Step> = prelude().into_iter().chain(steps).collect();
        if let Err(failure) = reduce::replay(Hubs::start().await, &steps).await {
            report("of the file", &steps, &failure);
        }
        return;
    }
    let plan = Plan::new();
    for seed in (0..plan.seeds).map(|place| plan.seed.wrapping_add(place)) {
        let mut figures = Figures::new();
        let (steps, outcome) = explore(seed, plan.operations, &mut figures).await;
        if let Err(failure) = outcome {
            let line = failure.report.lines().next().unwrap_or_default();
            println!("seed {seed} failed at step {}, {line}; looking for a shorter sequence", failure.step);
            let (steps, failure) = reduce::reduce(steps, prelude().len(), failure).await;
            report(&seed.to_string(), &steps, &failure);
        }
        println!("seed {seed}: {} operations", plan.operations);
        for (name, statuses) in figures {
            println!("  {name}: {statuses:?}");
        }
    }
}

#[test]
fn every_operation_is_drawn_or_left_out_for_a_reason() {
    let drawn: BTreeSet<String> = operations::all().iter().map(|operation| operation.name.to_owned()).collect();
    let left_out: BTreeSet<String> = operations::LEFT_OUT.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut known = crate::walk::operations();
    known.extend(crate::walk::tools().iter().map(|tool| format!("tool {tool}")));
    let both: Vec<_> = drawn.intersection(&left_out).collect();
    assert!(both.is_empty(), "drawn and left out: {both:#?}");
    let missing: Vec<_> = known.iter().filter(|name| !drawn.contains(*name) && !left_out.contains(*name)).collect();
    assert!(missing.is_empty(), "register these in engines/operations, or add them to LEFT_OUT: {missing:#?}");
    // These two are no operations of the API.
    let own = ["advance", "next page"];
    let unknown: Vec<_> = drawn.union(&left_out).filter(|name| !known.contains(*name)).collect();
    let unknown: Vec<_> = unknown.into_iter().filter(|name| !own.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "no such operations: {unknown:#?}");
}
