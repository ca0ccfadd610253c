//! What an app sees and does that asks for access on behalf of a person.
#![cfg_attr(not(test), expect(dead_code, reason = "the pages are there before what shows them"))]

mod pages;
