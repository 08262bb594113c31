"""Where an exchange without a key ends: what comes in goes on to what stands behind it. The host
passes on whole frames."""

from __future__ import annotations

from typing import Any

from headrace.runtime.operators.operator import KeyedContext, KeyedOperator


class PassOn(KeyedOperator):
    def process(self, value: Any, input_: int, context: KeyedContext) -> None:
        context.emit(value, context.timestamp)
