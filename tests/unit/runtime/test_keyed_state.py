"""Every kind of keyed state, and how long it lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common import Duration, Time, Types
from headrace.datastream import AggregateFunction, KeyedProcessFunction
from headrace.datastream.functions import RuntimeContext
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.datastream.window import TimeWindow
from headrace.runtime import keys
from headrace.runtime.state import owner_bytes
from tests.unit.runtime.durable_jobs import DISTURBANCES, DurableJob

Do = Callable[[Any, Any], Any]


class Calls(KeyedProcessFunction):
    """Values (key, what to do with the state, its argument); emits what comes back."""

    def __init__(self, descriptor: StateDescriptor, do: dict[str, Do]) -> None:
        self.descriptor = descriptor
        self.do = do

    def open(self, runtime_context: RuntimeContext) -> None:
        get = {
            ValueStateDescriptor: runtime_context.get_state,
            ListStateDescriptor: runtime_context.get_list_state,
            MapStateDescriptor: runtime_context.get_map_state,
            ReducingStateDescriptor: runtime_context.get_reducing_state,
            AggregatingStateDescriptor: runtime_context.get_aggregating_state,
        }[type(self.descriptor)]
        self.state = get(self.descriptor)  # type: ignore[operator]

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        yield self.do[value[1]](self.state, value[2])


def calls(descriptor: StateDescriptor, **do: Do) -> DurableJob:
    return DurableJob(
        lambda s: s.key_by(lambda v: v[0]).process(Calls(descriptor, do)), out_of_orderness=None
    )


class Mean(AggregateFunction):
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add(self, value: Any, accumulator: list[int]) -> list[int]:
        return [accumulator[0] + value, accumulator[1] + 1]

    def get_result(self, accumulator: list[int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        return [acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]]


def test_value_state() -> None:
    job = calls(
        ValueStateDescriptor("v", Types.INT()),
        get=lambda s, _: s.value(),
        set=lambda s, v: s.update(v),
        clear=lambda s, _: s.clear(),
    )
    steps = [("a", "get", 0), ("a", "set", 5), ("a", "get", 0), ("b", "get", 0)]
    assert sorted(map(str, job.only(s0=steps))) == ["5", "None", "None", "None"]
    job.reopen()
    assert job.only(s0=[("a", "get", 0), ("a", "clear", 0), ("a", "get", 0)]) == [5, None, None]
    assert job.run.state_entries() == 0


def test_list_state() -> None:
    job = calls(
        ListStateDescriptor("l", Types.INT()),
        get=lambda s, _: list(s.get()),
        add=lambda s, v: s.add(v),
        all=lambda s, v: s.add_all(v),
        update=lambda s, v: s.update(v),
        iterate=lambda s, _: [*s],
    )
    steps = [("a", "add", 1), ("a", "all", [2, 3]), ("a", "get", 0)]
    assert job.only(s0=steps) == [None, None, [1, 2, 3]]
    steps = [("a", "update", [9]), ("a", "iterate", 0), ("a", "update", []), ("a", "get", 0)]
    assert job.only(s0=steps) == [None, [9], None, []]
    assert job.run.state_entries() == 0


def test_map_state() -> None:
    def use(state: Any, _: Any) -> Any:
        state["x"] = 1
        state.put_all({"y": 2, "z": 3})
        del state["z"]
        state.remove("never there")
        return [
            state["x"],
            state.get("nothing"),
            "y" in state,
            state.contains("z"),
            sorted(state),
            sorted(state.items()),
            sorted(state.values()),
            state.is_empty(),
        ]

    job = calls(
        MapStateDescriptor("m", Types.STRING(), Types.INT()),
        use=use,
        clear=lambda s, _: (s.clear(), s.is_empty()),
    )
    expected = [1, None, True, False, ["x", "y"], [("x", 1), ("y", 2)], [1, 2], False]
    assert job.only(s0=[("a", "use", 0)]) == [expected]
    assert job.only(s0=[("a", "clear", 0)]) == [(None, True)]
    assert job.run.state_entries() == 0


def test_reducing_and_aggregating_state() -> None:
    reducing = ReducingStateDescriptor("r", lambda a, b: a + b, Types.INT())
    aggregating = AggregatingStateDescriptor("a", Mean(), Types.PICKLED_BYTE_ARRAY())
    for descriptor, result in ((reducing, 9), (aggregating, 4.5)):
        job = calls(
            descriptor,
            add=lambda s, v: s.add(v),
            get=lambda s, _: s.get(),
            clear=lambda s, _: s.clear(),
        )
        assert job.only(s0=[("a", "get", 0), ("a", "add", 3), ("a", "add", 6)]) == [None] * 3
        job.reopen()
        steps = [("a", "get", 0), ("a", "clear", 0), ("a", "get", 0)]
        assert job.only(s0=steps) == [result, None, None]
    assert reducing.get_reduce_function()(1, 2) == 3
    assert isinstance(aggregating.get_agg_function(), Mean)


def test_what_makes_no_state_is_refused() -> None:
    with pytest.raises(TypeError, match="AggregateFunction"):
        AggregatingStateDescriptor("a", lambda a, b: a)
    with pytest.raises(TypeError, match="ReduceFunction"):
        ReducingStateDescriptor("r", 5)
    with pytest.raises(ValueError, match="name"):
        ValueStateDescriptor("")
    with pytest.raises(ValueError, match="longer than nothing"):
        StateTtlConfig.new_builder(Time.seconds(0)).build()


@given(st.text(max_size=5), st.text(max_size=5), st.integers(), st.integers())
@settings(deadline=None, derandomize=True)
def test_addresses_of_state_are_what_keys_are(uid: str, key: str, start: int, end: int) -> None:
    encoded = keys.encode(key)
    window = keys.encode((start, end))
    expected = keys.encode((uid, encoded, window))
    assert owner_bytes(uid, encoded, TimeWindow(start, end)) == expected
    assert owner_bytes(uid, encoded, None) == keys.encode((uid, encoded, keys.encode(None)))


# --- time to live

Build = Callable[[StateTtlConfig.Builder], StateTtlConfig.Builder]


def living(
    descriptor: StateDescriptor, ttl: int, build: Build = lambda builder: builder
) -> StateDescriptor:
    config = build(StateTtlConfig.new_builder(Duration.of_millis(ttl))).build()
    descriptor.enable_time_to_live(config)
    return descriptor


def value_job(build: Build = lambda builder: builder) -> DurableJob:
    return calls(
        living(ValueStateDescriptor("v"), 10, build),
        get=lambda s, _: s.value(),
        set=lambda s, v: s.update(v),
    )


def at(job: DurableJob, time: int, what: str, argument: Any = 0) -> Any:
    [result] = job.only(time=time, s0=[("a", what, argument)])
    return result


def test_a_value_lives_since_it_was_written() -> None:
    job = value_job()
    at(job, 100, "set", 5)
    assert at(job, 105, "get") == 5
    assert at(job, 109, "get") == 5
    assert at(job, 110, "get") is None


def test_reading_may_prolong_its_life() -> None:
    job = value_job(lambda builder: builder.update_ttl_on_read_and_write())
    at(job, 100, "set", 5)
    assert at(job, 108, "get") == 5
    assert at(job, 117, "get") == 5
    assert at(job, 127, "get") is None


def test_what_has_expired_may_be_read_once_if_it_is_still_there() -> None:
    job = value_job(
        lambda builder: builder.return_expired_if_not_cleaned_up().disable_cleanup_in_background()
    )
    at(job, 100, "set", 5)
    assert at(job, 150, "get") == 5
    assert at(job, 151, "get") is None


def test_state_that_nobody_reads_goes_too() -> None:
    job = value_job()
    job.only(time=100, s0=[(key, "set", 1) for key in "abcdef"])
    assert job.run.state_entries() > 0
    job.tick(150)
    assert job.run.state_entries() == 0
    kept = value_job(lambda builder: builder.disable_cleanup_in_background())
    kept.only(time=100, s0=[("a", "set", 1)])
    kept.tick(150)
    assert kept.run.state_entries() == 1


def test_disabled_means_forever() -> None:
    job = value_job(lambda builder: builder.set_update_type(StateTtlConfig.UpdateType.Disabled))
    at(job, 100, "set", 5)
    assert at(job, 10**6, "get") == 5


def test_reducing_state_begins_anew_when_it_has_expired() -> None:
    job = calls(
        living(ReducingStateDescriptor("r", lambda a, b: a + b), 10),
        add=lambda s, v: (s.add(v), s.get())[1],
    )
    assert at(job, 100, "add", 1) == 1
    assert at(job, 109, "add", 2) == 3
    assert at(job, 118, "add", 4) == 7
    assert at(job, 128, "add", 8) == 8


def test_a_time_to_live_may_be_switched_on_and_off() -> None:
    do: dict[str, Do] = {"get": lambda s, _: s.value(), "set": lambda s, v: s.update(v)}
    job = calls(ValueStateDescriptor("v"), **do)
    at(job, 100, "set", 5)
    with_ttl = calls(living(ValueStateDescriptor("v"), 10), **do)
    with_ttl.run._stores = job.run._stores
    assert at(with_ttl, 200, "get") == 5
    assert at(with_ttl, 209, "get") == 5
    job.run._stores = with_ttl.run._stores
    assert at(job, 209, "get") == 5
    assert at(with_ttl, 211, "get") is None


class Model:
    """Lists and maps whose parts expire, by their definition: every use of every part is noted."""

    def __init__(self, ttl: int, reading: bool) -> None:
        self.ttl, self.reading = ttl, reading
        self.parts: list[list[Any]] = []  # [key, value, last used]

    def alive(self, now: int) -> list[list[Any]]:
        return [part for part in self.parts if part[2] + self.ttl > now]

    def put(self, now: int, key: Any, value: Any) -> None:
        self.parts = [p for p in self.alive(now) if key is None or p[0] != key]
        self.parts.append([key, value, now])

    def get_all(self, now: int) -> list[Any]:
        alive = self.alive(now)
        for part in alive if self.reading else []:
            part[2] = now
        return [(key, value) for key, value, _ in alive]

    def get(self, now: int, key: Any) -> Any:
        for part in self.alive(now):
            if part[0] == key:
                part[2] = now if self.reading else part[2]
                return part[1]
        return None


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    steps=st.lists(
        st.tuples(
            st.integers(0, 6),
            st.sampled_from(["put", "put", "get", "all"]),
            st.integers(1, 3),
            st.integers(1, 9),
        ),
        max_size=30,
    ),
    kind=st.sampled_from(["map", "list"]),
    reading=st.booleans(),
    background=st.booleans(),
    disturbances=DISTURBANCES,
)
def test_lists_and_maps_expire_part_by_part(
    steps: list[Any], kind: str, reading: bool, background: bool, disturbances: list[str]
) -> None:
    def build(builder: StateTtlConfig.Builder) -> StateTtlConfig.Builder:
        if reading:
            builder.update_ttl_on_read_and_write()
        return builder if background else builder.disable_cleanup_in_background()

    if kind == "map":
        job = calls(
            living(MapStateDescriptor("m"), 10, build),
            put=lambda s, kv: s.put(*kv),
            get=lambda s, kv: s.get(kv[0]),
            all=lambda s, _: sorted(s.items()),
        )
    else:
        job = calls(
            living(ListStateDescriptor("l"), 10, build),
            put=lambda s, kv: s.add(kv),
            all=lambda s, _: list(s),
        )
    model = Model(10, reading)
    now = 1000
    for (later, what, key, value), disturbance in zip(steps, disturbances, strict=False):
        now += later
        if kind == "list" and what == "get":
            what = "all"
        [got] = job.step([("a", what, (key, value))], now, disturbance)
        if what == "put" and kind == "map":
            model.put(now, key, value)
        elif what == "put":
            model.put(now, None, (key, value))
        elif what == "get":
            assert got == model.get(now, key)
        elif kind == "map":
            assert got == sorted(model.get_all(now))
        else:
            assert got == [pair for _, pair in model.get_all(now)]
    job.tick(now + 100)
    assert job.run.state_entries() == 0 or not background
