//! Who is where: channels, their members, and agents that come and go.

use serde_json::Value;

use super::{Channel, Model, Request};

const GENERAL: &str = "general";

impl Model {
    pub(super) fn apply_to_channels(&mut self, request: &Request<'_>) {
        let named = |place: usize| request.names.get(place).cloned().unwrap_or_default();
        match request.operation.as_str() {
            "POST /api/agents" => {
                let agent = &request.answer["agent"];
                let (name, owner) = (agent["name"].as_str().unwrap(), agent["owner"].as_str().unwrap());
                self.principals.insert(name.to_owned(), Some(owner.to_owned()));
                self.join(GENERAL, name);
            }
            "DELETE /api/agents/{}" => {
                if let Some(agent) = self.handle(&named(0)) {
                    self.say_goodbye(&agent);
                }
            }
            "POST /api/keys" => {
                let key = &request.answer["api_key"];
                let (id, agent) = (key["id"].as_str().unwrap(), key["agent"].as_str().unwrap());
                self.keys.insert(id.to_owned(), agent.to_owned());
            }
            "POST /api/channels" => {
                let view = &request.answer["channel"];
                self.open_channel(view["name"].as_str().unwrap_or_default(), view["public"] == true, request.actor);
            }
            "tool create_channel" => {
                let name = request.text("name").unwrap_or_default();
                self.open_channel(&name, request.fields["public"] != false, request.actor);
            }
            "GET /api/channels/{}" if !self.channel_names.contains_key(GENERAL) => {
                // It is there from the start, and so are its members.
                self.open_channel(GENERAL, true, request.actor);
                for member in request.answer["members"].as_array().into_iter().flatten() {
                    self.join(GENERAL, member["name"].as_str().unwrap_or_default());
                }
            }
            "tool update_channel_settings" => {
                let reference = request.channel().and_then(|name| self.channel_names.get(&name).cloned());
                if let Some(channel) = self.channels.get_mut(&reference.unwrap_or_default()) {
                    channel.is_workflow = request.answer["workflow_enabled"] == true;
                }
            }
            "PATCH /api/channels/{}" | "PUT /api/channels/{}/settings" => {
                self.learn_channel(&request.answer["channel"]);
            }
            "DELETE /api/channels/{}" => {
                let name = named(0);
                if let Some(reference) = self.channel_names.remove(&name) {
                    self.channels.remove(&reference);
                    self.let_copies_fade(&reference);
                }
            }
            "POST /api/channels/{}/join" | "tool join_channel" => {
                self.join(&request.channel().unwrap_or_default(), request.actor);
            }
            "POST /api/channels/{}/leave" | "tool leave_channel" => {
                self.leave(&request.channel().unwrap_or_default(), request.actor);
            }
            "PUT /api/channels/{}/members/{}" => {
                if let Some(member) = self.handle(&named(1)) {
                    self.let_in(&named(0), &member);
                    self.join(&named(0), &member);
                }
            }
            "DELETE /api/channels/{}/members/{}" => {
                if let Some(member) = self.handle(&named(1)) {
                    let is_own =
                        member == request.actor || self.owner_of(&member).is_some_and(|owner| owner == request.actor);
                    if !is_own {
                        self.keep_out(&named(0), &member);
                    }
                    self.leave(&named(0), &member);
                }
            }
            _ => {}
        }
        self.check_members(request.answer);
    }

    /// A channel belongs to the owner of an agent that creates it, and both are members. A name can be used again after its
    /// channel was deleted, so each channel gets a name of its own here.
    fn open_channel(&mut self, name: &str, is_public: bool, creator: &str) {
        self.opened += 1;
        let place = format!("channel {name} {}", self.opened);
        self.channel_names.insert(name.to_owned(), place.clone());
        self.channels.insert(place, Channel { is_public, ..Channel::default() });
        if let Some(owner) = self.owner_of(creator).cloned() {
            self.join(name, &owner);
        }
        self.join(name, creator);
    }

    /// Takes over what a change has made of a channel.
    fn learn_channel(&mut self, view: &Value) {
        let place = view["name"].as_str().and_then(|name| self.channel_names.get(name).cloned());
        let Some(channel) = self.channels.get_mut(&place.unwrap_or_default()) else { return };
        let was_public = channel.is_public;
        channel.is_public = view["public"] == true;
        channel.is_workflow = view["workflow_enabled"] == true;
        if was_public && !channel.is_public {
            let claimants: Vec<String> = self.principals.keys().cloned().collect();
            claimants.iter().for_each(|claimant| self.give_back(claimant, false));
        }
    }

    fn let_copies_fade(&mut self, channel: &str) {
        for place in 0..self.messages.len() {
            let origin = self.messages[place].mention_of;
            if origin.is_some_and(|origin| self.messages[origin].conversation == channel) {
                self.messages[place].is_fading = true;
                self.unknown.insert(self.messages[place].conversation.clone());
            }
        }
    }

    pub(super) fn join(&mut self, channel: &str, member: &str) {
        let Some(reference) = self.channel_names.get(channel).cloned() else { return };
        let is_new = self.channels.get_mut(&reference).is_some_and(|known| known.members.insert(member.to_owned()));
        if is_new {
            self.read.insert((member.to_owned(), reference), self.messages.len());
        }
    }

    fn keep_out(&mut self, channel: &str, member: &str) {
        let reference = self.channel_names.get(channel).cloned().unwrap_or_default();
        if let Some(known) = self.channels.get_mut(&reference) {
            known.removed.insert(member.to_owned());
        }
        // Its agents work there without being members.
        let household: Vec<String> = self.household(member).cloned().collect();
        household.iter().for_each(|name| self.give_back(name, false));
    }

    fn let_in(&mut self, channel: &str, member: &str) {
        let household: Vec<String> = self.household(member).cloned().collect();
        let reference = self.channel_names.get(channel).cloned().unwrap_or_default();
        if let Some(known) = self.channels.get_mut(&reference) {
            known.removed.retain(|name| !household.contains(name));
        }
    }

    /// Whether somebody took the principal out of a channel, or the person who owns it.
    pub(super) fn is_kept_out(&self, conversation: &str, name: &str) -> bool {
        let Some(channel) = self.channels.get(conversation) else { return false };
        let owner = self.owner_of(name);
        channel.removed.contains(name) || owner.is_some_and(|owner| channel.removed.contains(owner))
    }

    /// A person takes their agents along.
    fn leave(&mut self, channel: &str, member: &str) {
        let leaving: Vec<String> = self.household(member).cloned().collect();
        let reference = self.channel_names.get(channel).cloned().unwrap_or_default();
        let Some(known) = self.channels.get_mut(&reference) else { return };
        let left: Vec<String> = leaving.into_iter().filter(|name| known.members.remove(name)).collect();
        left.iter().for_each(|name| self.give_back_after(name, false));
    }

    fn say_goodbye(&mut self, agent: &str) {
        for channel in self.channels.values_mut() {
            channel.members.remove(agent);
        }
        self.judgements.retain(|judgement| judgement.agent != agent);
        self.give_back_after(agent, true);
    }

    /// What somebody can no longer work on is free again, also for a person who saw it through their agent.
    fn give_back_after(&mut self, name: &str, is_gone: bool) {
        self.give_back(name, is_gone);
        if let Some(owner) = self.owner_of(name).cloned() {
            self.give_back(&owner, false);
        }
    }

    fn check_members(&mut self, answer: &Value) {
        let place = answer["channel"]["name"].as_str().and_then(|name| self.channel_names.get(name));
        let (Some(place), Some(members)) = (place, answer["members"].as_array()) else { return };
        let shown = members.iter().filter_map(|member| member["name"].as_str()).map(str::to_owned).collect();
        let known = self.channels.get(place).map(|channel| channel.members.clone());
        let Some(known) = known else { return };
        self.expect(known == shown, || format!("members are {shown:?} and should be {known:?}"));
    }
}
