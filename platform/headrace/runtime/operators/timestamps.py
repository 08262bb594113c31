"""Event time: each element's timestamp, and the watermarks that follow."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headrace.common.watermark_generator import WatermarkGenerator
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.runtime.frames import MIN_WATERMARK
from headrace.runtime.operators.operator import Element, OperatorError, Output, StatelessOperator


class AssignTimestamps(StatelessOperator):
    """Sets event times and follows the watermark of each split, from `start` to `take`."""

    def __init__(self, name: str, strategy: WatermarkStrategy) -> None:
        self.name = name
        self.strategy = strategy
        #: Whose elements come; set by the stage that runs the operator.
        self.split = "*"
        self.start(0)

    def for_batch(self) -> StatelessOperator:
        untold = replace(self.strategy, out_of_orderness=None, generator=None)
        return AssignTimestamps(self.name, untold)

    def start(self, time: int) -> None:
        """Another task or key group begins; `time` is the micro-batch's."""
        self.time = time
        self._newest: dict[str, int] = {}
        self._generators: dict[str, _Generating] = {}

    @property
    def newest(self) -> int:
        """The latest timestamp since `start`."""
        return max(self._newest.values(), default=MIN_WATERMARK)

    def process(self, elements: list[Element], output: Output) -> None:
        if not elements:
            return
        strategy = self.strategy
        if strategy.ingestion_time:
            elements = [(self.time, value) for _, value in elements]
        elif strategy.assigner is not None:
            elements = self._assign(elements, strategy.assigner.extract_timestamp)
        newest = max((ts for ts, _ in elements if ts is not None), default=MIN_WATERMARK)
        self._newest[self.split] = max(newest, self._newest.get(self.split, MIN_WATERMARK))
        if strategy.generator is not None:
            self._generate(elements)
        output.emit(elements)

    def take(self) -> dict[str, int]:
        """Watermarks by split, where there is one."""
        strategy = self.strategy
        if strategy.generator is not None:
            found = {split: each.finish() for split, each in self._generators.items()}
        elif strategy.out_of_orderness is not None:
            delay = strategy.out_of_orderness + 1
            found = {
                split: newest - delay
                for split, newest in self._newest.items()
                if newest > MIN_WATERMARK
            }
        else:
            found = {}
        return {split: mark for split, mark in found.items() if mark > MIN_WATERMARK}

    def _assign(self, elements: list[Element], extract: Any) -> list[Element]:
        value = None
        results: list[Element] = []
        try:
            for timestamp, value in elements:
                before = MIN_WATERMARK if timestamp is None else timestamp
                results.append((int(extract(value, before)), value))
        except Exception as error:
            raise OperatorError(self.name, value, traceback.format_exc()) from error
        return results

    def _generate(self, elements: list[Element]) -> None:
        generating = self._generators.get(self.split)
        value = None
        try:
            if generating is None:
                assert self.strategy.generator is not None
                generating = _Generating(self.strategy.generator())
                self._generators[self.split] = generating
            for timestamp, value in elements:
                generating.event(value, MIN_WATERMARK if timestamp is None else timestamp)
        except Exception as error:
            raise OperatorError(self.name, value, traceback.format_exc()) from error


def taken_watermarks(assigners: Mapping[str, AssignTimestamps]) -> dict[str, int]:
    """As a Control row carries them. `assigners`: by their generator's name."""
    return {
        f"{name}/{split}": watermark
        for name, assigner in assigners.items()
        for split, watermark in assigner.take().items()
    }


class _Generating:
    """A generator at work, and its WatermarkOutput."""

    def __init__(self, generator: WatermarkGenerator) -> None:
        self._generator = generator
        self._highest = MIN_WATERMARK

    def event(self, value: Any, timestamp: int) -> None:
        self._generator.on_event(value, timestamp, self)

    def finish(self) -> int:
        self._generator.on_periodic_emit(self)
        return self._highest

    def emit_watermark(self, watermark: int) -> None:
        self._highest = max(self._highest, int(watermark))
