//! A name carries no rights: after the owner's channel was deleted and an administrator made a public one of the same name, those who
//! reached the old one get the new one or nothing.

use serde_json::json;

use super::tools::{self, Outcome};
use super::visitors::House;
use super::world::{CHANNEL_SECRET, SECRETS, shown};
use super::{Access, table};
use crate::support::items;

#[tokio::test]
async fn a_new_channel_shows_nothing_of_the_old_one() {
    let house = House::make().await;
    let (world, hub) = (&house.world, &house.hub);
    let admin = hub.admin().await;
    world.owner.delete(&format!("/api/channels/{}", world.channel())).await.status(204);
    admin.make_channel(json!({"name": world.channel()})).await;
    admin.say(world.channel(), "welcome").await;
    let attempts = tools::attempts(hub).await;

    // The key reaches no channel any more, and others reach the new one.
    let visitors = [
        ("limited", &house.limited_to_channel, &[CHANNEL_SECRET][..]),
        ("stranger", &house.stranger.client, &SECRETS),
        ("strangers-agent", &house.stranger_agent.client, &SECRETS),
        ("former", &house.former.client, &SECRETS),
        ("formers-agent", &house.former_agent.client, &SECRETS),
    ];
    for (name, client, hidden) in visitors {
        let is_limited = name == "limited";
        for row in &table() {
            let own = row.operation.contains("/api/channels/{name}").then_some(None);
            let aims = row.aims.iter().filter(|aim| {
                aim.query.contains("{channel}")
                    || aim.body.as_ref().is_some_and(|body| body.to_string().contains("{channel}"))
            });
            for aim in own.into_iter().chain(aims.map(Some)) {
                let reply = row.call(client, world, name, aim).await;
                let what = format!("{} as {name}", row.operation);
                assert_eq!(shown(&reply.text(), hidden), None, "{what}: {reply:?}");
                let is_found = (200..300).contains(&reply.code());
                let is_search = row.operation.ends_with("/search");
                assert!(!is_limited || !is_found || is_search, "{what}: {reply:?}");
                if is_limited && aim.is_none() {
                    let (status, code) = row.expected("agent");
                    reply.problem(status, code);
                } else if !is_limited && aim.is_none() && row.operation.ends_with("/messages") {
                    assert_eq!(items(reply)[0]["body"], "welcome", "{what}");
                } else if aim.is_none() && row.access == Access::SessionThing {
                    assert!(!is_found, "{what}: {reply:?}");
                }
            }
        }
        // A person's token is not for `/mcp`.
        if matches!(name, "stranger" | "former") {
            continue;
        }
        for attempt in attempts.iter().filter(|attempt| attempt.names("{channel}")) {
            let (outcome, reply, what) = attempt.send(client, world).await;
            let what = format!("{what} as {name}");
            assert_eq!(shown(&reply.text(), hidden), None, "{what}: {reply:?}");
            if is_limited && attempt.names("create_channel") {
                assert_eq!(outcome, Outcome::Refused("forbidden".to_owned()), "{what}");
            } else if is_limited && !attempt.names("search_messages") {
                assert!(attempt.is_missing(&outcome), "{what}: {reply:?}");
            }
        }
    }
    // The key does not hear what is said under the old name either.
    let mut stream = house.limited_to_channel.events().await;
    admin.say(world.channel(), "not for the key").await;
    let sign = admin.dm(&world.agent.name, "a sign").await;
    loop {
        let frame = stream.next().await;
        assert_eq!(shown(&frame.data.to_string(), &[world.channel()]), None, "{frame:?}");
        if frame.event == "new_message" && frame.data["message_id"] == sign["id"] {
            break;
        }
    }
    let channel = admin.get(&format!("/api/channels/{}", world.channel())).await.ok().json();
    assert_eq!(channel["channel"]["owner"], "admin", "{channel}");
    house.hub.finish().await;
}
