"""Configuration, Duration, Time and Instant: values in and out."""

# runs: whole 1
# order: all
from pyflink.common import Configuration, Duration, Instant, Time


def main():
    configuration = Configuration()
    configuration.set_string("s", "text").set_integer("i", 5).set_boolean("b", True).set_float(
        "f", 1.5
    )
    configuration.set_bytearray("bytes", bytearray(b"xy"))
    print(
        configuration.get_string("s", ""),
        configuration.get_integer("i", 0),
        configuration.get_boolean("b", False),
    )
    print(
        configuration.get_float("f", 0.0), bytes(configuration.get_bytearray("bytes", bytearray()))
    )
    print(
        configuration.get_string("none", "default"),
        configuration.get_integer("none", 9),
        configuration.contains_key("s"),
    )
    print(configuration.get_string("i", ""), configuration.get_string("b", ""))
    print(sorted(configuration.key_set()))
    other = Configuration()
    other.set_string("x", "y")
    other.add_all(configuration, "p.")
    print(sorted(other.key_set()), other.remove_config("x"), other.remove_config("x"))
    print(Configuration().to_dict(), configuration == configuration, other == Configuration())
    print(sorted(Configuration.parse_list_value("a;b;c")))
    for duration in (
        Duration.of_days(1),
        Duration.of_hours(2),
        Duration.of_minutes(3),
        Duration.of_seconds(4),
        Duration.of_millis(5),
        Duration.of_nanos(6),
    ):
        print(duration == Duration.of_seconds(4))
    for time in (
        Time.days(1),
        Time.hours(2),
        Time.minutes(3),
        Time.seconds(4),
        Time.milliseconds(5),
    ):
        print(time.to_milliseconds())
    print(
        Instant.of_epoch_milli(1500).to_epoch_milli(),
        Instant(1, 5) == Instant(1, 5),
        repr(Instant.of_epoch_milli(-1)),
    )


if __name__ == "__main__":
    main()
