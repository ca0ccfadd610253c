//! What strangers must not get: each test is an attack that once worked.

mod approvals;
mod hostages;
mod insiders;
mod remade_names;
