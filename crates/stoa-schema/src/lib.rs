//! The migrations of Stoa's database, in order. Never edit a migration that has been released: add another one.

use stoa_db::Migration;

macro_rules! migration {
    ($number:literal, $file:literal, $name:literal) => {
        Migration {
            number: $number,
            name: $name,
            sqlite: include_str!(concat!("../../../migrations/sqlite/", $file, "_", $name, ".sql")),
            postgres: include_str!(concat!("../../../migrations/postgres/", $file, "_", $name, ".sql")),
        }
    };
}

pub const MIGRATIONS: &[Migration] = &[
    migration!(1, "0001", "ground"),
    migration!(2, "0002", "messaging"),
    migration!(3, "0003", "traces"),
    migration!(4, "0004", "machines"),
    migration!(5, "0005", "oauth"),
    migration!(6, "0006", "reactions"),
    migration!(7, "0007", "attachments"),
    migration!(8, "0008", "search"),
    migration!(9, "0009", "sent_uploads"),
    migration!(10, "0010", "order"),
    migration!(11, "0011", "free_messages"),
    migration!(12, "0012", "persons"),
    migration!(13, "0013", "times"),
    migration!(14, "0014", "channel_references"),
    migration!(15, "0015", "removed_members"),
    migration!(16, "0016", "texts_of_now"),
    migration!(17, "0017", "traces_of_keys"),
    migration!(18, "0018", "credentials"),
    migration!(19, "0019", "search_queue"),
    migration!(20, "0020", "pictures"),
    migration!(21, "0021", "stored_answers"),
    migration!(22, "0022", "work_lanes"),
    migration!(23, "0023", "webhooks"),
    migration!(24, "0024", "hooks"),
    migration!(25, "0025", "secrets"),
    migration!(26, "0026", "runs"),
    migration!(27, "0027", "work_and_talk"),
    migration!(28, "0028", "invitations"),
    migration!(29, "0029", "directory"),
    migration!(30, "0030", "programs"),
    migration!(31, "0031", "deferred"),
    migration!(32, "0032", "reach"),
    migration!(33, "0033", "remote_runs"),
    migration!(34, "0034", "workspaces"),
];
