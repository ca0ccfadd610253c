//! What strangers must not get: each test is an attack that once worked.

mod remade_names;
