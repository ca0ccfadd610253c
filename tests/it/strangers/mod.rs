//! What strangers must not get: each test is an attack that once worked.

mod approvals;
mod copies;
mod hostages;
mod insiders;
mod readers;
mod remade_names;
