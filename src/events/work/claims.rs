//! Which items a hub does next.
//!
//! Most of the time there is nothing to take, so a hub looks first, which costs no write, and then takes what it has found if it is
//! still free. Commands of several hubs run as if one after the other, so neither lanes nor meters exceed their limits.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use stoa_db::{DbError, ToValue, Tx, Value, in_list, params};

use super::{Rate, WorkItem, Worker};
use crate::clock::milliseconds;
use crate::error::HubError;
use crate::hub::Hub;

/// What a hub asks for.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) queue: &'static str,
    pub(super) room: usize,
    pub(super) lane_limit: usize,
    /// The lane after which to begin, so that lanes take turns.
    pub(super) after_lane: String,
    /// Lanes of which this hub does none now.
    pub(super) avoided: BTreeSet<String>,
    /// Lanes that have only a part of the room, and how much of it is left for them.
    pub(super) slow: BTreeSet<String>,
    pub(super) slow_room: usize,
    /// How many items each group of lanes has under way here, and how many it may have.
    pub(super) groups: BTreeMap<String, usize>,
    pub(super) group_limit: usize,
}

/// Lanes with a name like `group/lane` share a part of a hub's places, so that a group with many lanes does not get all of them.
pub(super) fn group_of(lane: &str) -> Option<&str> {
    lane.split_once('/').map(|(group, _)| group)
}

/// What was taken, and when it is worth while to look again.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) items: Vec<WorkItem>,
    pub(super) next_look: Option<i64>,
    /// Lanes of which a meter lets nothing through, and until when.
    pub(super) blocked: Vec<Blocked>,
}

/// A lane, and until when it is blocked.
pub(super) type Blocked = (String, i64);

/// A lane with something in it.
struct Lane {
    name: String,
    under_way: usize,
    /// When the first lease of an item under way runs out.
    lease_until: Option<i64>,
    /// When the first item is due that nobody works on.
    due_at: Option<i64>,
}

/// An item that could be taken.
struct Candidate {
    id: i64,
    lane: String,
    meters: Vec<String>,
}

/// Takes due items, as many as there is room for.
pub(super) async fn claim(hub: &Hub, worker: &dyn Worker, wish: Wish) -> Result<Claimed, HubError> {
    if wish.room == 0 {
        return Ok(Claimed::default());
    }
    let look = wish.clone();
    let (candidates, next_look) = hub.read(move |tx| find_candidates(tx, &look)).await?;
    if candidates.is_empty() {
        return Ok(Claimed { next_look, ..Claimed::default() });
    }
    let rates = rates_of(worker, &candidates);
    let (owner, lease) = (hub.instance().to_owned(), milliseconds(worker.lease()));
    hub.write(move |tx| {
        let (chosen, blocked) = choose(tx, &wish, &candidates, &rates)?;
        let items = take(tx, &wish, &owner, lease, &chosen)?;
        note_starts(tx, &wish, &candidates, &rates, &items)?;
        Ok::<_, HubError>(Claimed { items, next_look, blocked })
    })
    .await
}

/// The first items of each lane that has room, lane after lane.
fn find_candidates(tx: &mut Tx<'_>, wish: &Wish) -> Result<(Vec<Candidate>, Option<i64>), DbError> {
    let now = tx.now_ms();
    let mut lanes = list_lanes(tx, wish.queue)?;
    let (before, after) = lanes.drain(..).partition::<Vec<_>, _>(|lane| lane.name <= wish.after_lane);
    let mut next_look: Option<i64> = None;
    let mut of_lanes = Vec::new();
    let mut slow_room = wish.slow_room;
    let mut groups = wish.groups.clone();
    for lane in after.into_iter().chain(before) {
        let is_slow = wish.slow.contains(&lane.name);
        let most = if is_slow { slow_room.min(wish.room) } else { wish.room };
        let of_group = group_of(&lane.name).map(|group| groups.entry(group.to_owned()).or_default());
        let most = of_group.as_ref().map_or(most, |count| most.min(wish.group_limit.saturating_sub(**count)));
        let room = wish.lane_limit.saturating_sub(lane.under_way).min(most);
        let due_at = if room == 0 { None } else { lane.due_at };
        if due_at.is_some_and(|due_at| due_at <= now) && !wish.avoided.contains(&lane.name) {
            slow_room -= if is_slow { room } else { 0 };
            if let Some(count) = of_group {
                *count += room;
            }
            of_lanes.push((lane.name, room));
        } else {
            // What has died gives its items back without saying so.
            let later = due_at.filter(|due_at| *due_at > now).into_iter().chain(lane.lease_until);
            next_look = next_look.into_iter().chain(later).min();
        }
    }
    // Each lane in its turn has one, then each has another.
    let share = wish.room.div_ceil(of_lanes.len().max(1));
    let mut found: Vec<std::vec::IntoIter<Candidate>> = Vec::new();
    for (lane, room) in of_lanes.into_iter().take(wish.room) {
        found.push(list_due(tx, wish.queue, &lane, now, room.min(share))?.into_iter());
    }
    let mut candidates = Vec::new();
    loop {
        let round: Vec<Candidate> = found.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        candidates.extend(round);
    }
    candidates.truncate(wish.room);
    Ok((candidates, next_look))
}

/// The lanes of a queue. Each costs a few look-ups, however many items are in it.
fn list_lanes(tx: &mut Tx<'_>, queue: &str) -> Result<Vec<Lane>, DbError> {
    tx.query(
        "with recursive lanes (lane) as (
             select min(lane) from work where queue = $1
             union all
             select (select min(w.lane) from work w where w.queue = $1 and w.lane > lanes.lane) from lanes where lanes.lane is not null)
         select lane,
             (select count(*) from work w where w.queue = $1 and w.lane = lanes.lane and w.lease_owner is not null and w.lease_until > $2)
                 as under_way,
             (select min(w.lease_until) from work w
              where w.queue = $1 and w.lane = lanes.lane and w.lease_owner is not null and w.lease_until > $2) as lease_until,
             (select w.due_at from work w
              where w.queue = $1 and w.lane = lanes.lane and (w.lease_owner is null or w.lease_until <= $2)
              order by w.due_at, w.id limit 1) as due_at
         from lanes where lane is not null",
        params![queue, tx.now_ms()],
        |row| {
            Ok(Lane {
                name: row.get("lane")?,
                under_way: usize::try_from(row.get::<i64>("under_way")?).unwrap_or(usize::MAX),
                lease_until: row.get("lease_until")?,
                due_at: row.get("due_at")?,
            })
        },
    )
}

fn list_due(tx: &mut Tx<'_>, queue: &str, lane: &str, now: i64, limit: usize) -> Result<Vec<Candidate>, DbError> {
    tx.query(
        "select id, lane, meters from work
         where queue = $1 and lane = $2 and due_at <= $3 and (lease_owner is null or lease_until <= $3)
         order by due_at, id limit $4",
        params![queue, lane, now, i64::try_from(limit).unwrap_or(i64::MAX)],
        |row| {
            let meters: String = row.get("meters")?;
            Ok(Candidate {
                id: row.get("id")?,
                lane: row.get("lane")?,
                meters: meters.split_whitespace().map(str::to_owned).collect(),
            })
        },
    )
}

type Rates = BTreeMap<String, Rate>;

fn rates_of(worker: &dyn Worker, candidates: &[Candidate]) -> Rates {
    let meters = candidates.iter().flat_map(|candidate| &candidate.meters);
    meters.filter_map(|meter| Some((meter.clone(), worker.rate(meter)?))).collect()
}

/// The items that lanes and meters have room for, and the lanes whose meters have none.
fn choose(
    tx: &mut Tx<'_>,
    wish: &Wish,
    candidates: &[Candidate],
    rates: &Rates,
) -> Result<(Vec<i64>, Vec<Blocked>), DbError> {
    let mut under_way = count_under_way(tx, wish, candidates)?;
    let mut meters = BTreeMap::new();
    for (name, rate) in rates {
        meters.insert(name.as_str(), read_meter(tx, wish.queue, name, *rate)?);
    }
    let (mut chosen, mut blocked) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let in_lane = under_way.entry(candidate.lane.as_str()).or_insert(0);
        let own: Vec<&str> = candidate.meters.iter().map(String::as_str).collect();
        let wait = own.iter().filter_map(|name| meters.get(name)?.free_at()).max();
        if let Some(until) = wait {
            blocked.push((candidate.lane.clone(), until));
        } else if *in_lane < wish.lane_limit {
            *in_lane += 1;
            for name in own {
                if let Some(meter) = meters.get_mut(name) {
                    meter.left -= 1;
                }
            }
            chosen.push(candidate.id);
        }
    }
    Ok((chosen, blocked))
}

/// What is left of a rate in this period.
struct Meter {
    left: usize,
    /// When the earliest start of the period no longer counts.
    next: i64,
}

impl Meter {
    /// When there is room again, if there is none.
    fn free_at(&self) -> Option<i64> {
        (self.left == 0).then_some(self.next)
    }
}

fn read_meter(tx: &mut Tx<'_>, queue: &str, meter: &str, rate: Rate) -> Result<Meter, DbError> {
    let (now, period) = (tx.now_ms(), milliseconds(rate.per));
    let started: Vec<i64> = tx.query(
        "select started_at from work_starts where queue = $1 and meter = $2 and started_at > $3 order by started_at",
        params![queue, meter, now - period],
        |row| row.get("started_at"),
    )?;
    // If the clock was set back, what seems to lie ahead counts as of now.
    let next = started.first().map_or(now, |first| (*first).min(now)) + period;
    Ok(Meter { left: rate.times.saturating_sub(started.len()), next })
}

fn count_under_way<'a>(
    tx: &mut Tx<'_>,
    wish: &Wish,
    candidates: &'a [Candidate],
) -> Result<HashMap<&'a str, usize>, DbError> {
    let mut counts = HashMap::new();
    if wish.lane_limit == usize::MAX {
        return Ok(counts);
    }
    for candidate in candidates {
        if counts.contains_key(candidate.lane.as_str()) {
            continue;
        }
        let count: i64 = tx.query_one(
            "select count(*) as items from work where queue = $1 and lane = $2 and lease_owner is not null and lease_until > $3",
            params![wish.queue, candidate.lane, tx.now_ms()],
            |row| row.get("items"),
        )?;
        counts.insert(candidate.lane.as_str(), usize::try_from(count).unwrap_or(usize::MAX));
    }
    Ok(counts)
}

fn take(tx: &mut Tx<'_>, wish: &Wish, owner: &str, lease: i64, chosen: &[i64]) -> Result<Vec<WorkItem>, DbError> {
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let now = tx.now_ms();
    let (list, ids) = in_list(5, chosen.iter().map(ToValue::to_value));
    let mut values = vec![owner.to_value(), Value::Integer(now + lease), wish.queue.to_value(), Value::Integer(now)];
    values.extend(ids);
    let sql = format!(
        "update work set lease_owner = $1, lease_until = $2, attempt = attempt + 1
         where id in {list} and queue = $3 and due_at <= $4 and (lease_owner is null or lease_until <= $4)
         returning id, subject, attempt, lane"
    );
    let mut items = tx.query(&sql, &values, |row| {
        Ok(WorkItem {
            id: row.get("id")?,
            subject: row.get("subject")?,
            attempt: row.get("attempt")?,
            lane: row.get("lane")?,
        })
    })?;
    items.sort_by_key(|item| chosen.iter().position(|id| *id == item.id));
    Ok(items)
}

/// Counts what was begun, and forgets what no longer counts.
fn note_starts(
    tx: &mut Tx<'_>,
    wish: &Wish,
    candidates: &[Candidate],
    rates: &Rates,
    items: &[WorkItem],
) -> Result<(), DbError> {
    let now = tx.now_ms();
    for (meter, rate) in rates {
        let begun = |candidate: &&Candidate| {
            candidate.meters.contains(meter) && items.iter().any(|item| item.id == candidate.id)
        };
        let begun = candidates.iter().filter(begun).count();
        if begun == 0 {
            continue;
        }
        tx.execute(
            "delete from work_starts where queue = $1 and meter = $2 and started_at <= $3",
            params![wish.queue, meter, now - milliseconds(rate.per)],
        )?;
        for _ in 0..begun {
            tx.execute(
                "insert into work_starts (queue, meter, started_at) values ($1, $2, $3)",
                params![wish.queue, meter, now],
            )?;
        }
    }
    Ok(())
}
