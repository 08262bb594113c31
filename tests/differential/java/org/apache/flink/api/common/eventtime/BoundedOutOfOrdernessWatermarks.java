package org.apache.flink.api.common.eventtime;

import java.time.Duration;

/**
 * Stands before Flink's own class of this name on the class path of the differential suite, so that
 * a run does not depend on how fast it is: a watermark behind each element (system property
 * "differential.pace" = "each"), or none before the end of input.
 */
public class BoundedOutOfOrdernessWatermarks<T> implements WatermarkGenerator<T> {
    private final boolean each = "each".equals(System.getProperty("differential.pace"));
    private final long outOfOrdernessMillis;
    private long maxTimestamp;

    public BoundedOutOfOrdernessWatermarks(Duration maxOutOfOrderness) {
        this.outOfOrdernessMillis = maxOutOfOrderness.toMillis();
        this.maxTimestamp = Long.MIN_VALUE + outOfOrdernessMillis + 1;
    }

    @Override
    public void onEvent(T event, long eventTimestamp, WatermarkOutput output) {
        maxTimestamp = Math.max(maxTimestamp, eventTimestamp);
        if (each) {
            output.emitWatermark(new Watermark(maxTimestamp - outOfOrdernessMillis - 1));
        }
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
}
