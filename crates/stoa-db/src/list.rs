//! Lists of values in a statement.

use crate::{Engine, Value};

/// `($n, …)` for an `in` list whose first parameter is number `first`, and its values.
///
/// The list is padded with its last value to the next power of two, so that lists of many lengths make
/// few statements, which are prepared once each. An empty list is `(null)`, which nothing is in.
pub fn in_list<'v>(first: usize, values: impl IntoIterator<Item = Value<'v>>) -> (String, Vec<Value<'v>>) {
    let mut values: Vec<Value<'v>> = values.into_iter().collect();
    let last = values.last().copied().unwrap_or(Value::Null);
    values.resize(values.len().next_power_of_two(), last);
    let places: Vec<String> = (first..first + values.len()).map(|number| format!("${number}")).collect();
    (format!("({})", places.join(", ")), values)
}

/// Ids as one parameter, for [`is_among`]: for lists that may be long.
pub fn id_list(ids: impl IntoIterator<Item = i64>) -> String {
    let mut text = "[".to_owned();
    for id in ids {
        if text.len() > 1 {
            text.push(',');
        }
        text += &id.to_string();
    }
    text.push(']');
    text
}

/// What follows on an expression for an id, to say that it is in the [list](id_list) that `place` (like `$2`) holds.
pub fn is_among(engine: Engine, place: &str) -> String {
    match engine {
        Engine::Sqlite => format!("in (select value from json_each({place}))"),
        Engine::Postgres => format!("= any(translate({place}::text, '[]', '{{}}')::bigint[])"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_padded() {
        let (sql, values) = in_list(3, [1, 2, 3].map(Value::Integer));
        assert_eq!(sql, "($3, $4, $5, $6)");
        assert_eq!(values, [1, 2, 3, 3].map(Value::Integer));
        assert_eq!(in_list(1, []), ("($1)".to_owned(), vec![Value::Null]));
    }
}
