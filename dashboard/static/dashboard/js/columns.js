// What the charts draw: columns of equal length, never longer than their range, however long the
// page is open. Times are seconds since 1970; buckets are milliseconds.

export class Columns {
  constructor() {
    this.seconds = 900;
    this.bucket = 3000;
    this.table = null;
    this.attempts = new Map(); // number to the time it began
  }

  // The newest bucket that is held: the server is asked from there on.
  get newest() {
    return this.table?.t.length ? Math.floor(this.table.t.at(-1)) : null;
  }

  // An answer of the server: the whole range when `fresh`, else what follows `newest`.
  take(answer, fresh) {
    this.seconds = answer.range;
    this.bucket = answer.bucket;
    if (fresh || !this.table) {
      this.table = answer.series;
      this.attempts.clear();
    } else {
      this.append(answer.series);
    }
    for (const [at, number] of answer.attempts) this.attempts.set(number, at);
    this.forget(answer.now / 1000);
  }

  // Buckets that came before are replaced: they may have grown since.
  append(series) {
    if (!series.t.length) return;
    const from = this.table.t.findIndex((t) => t >= series.t[0]);
    for (const [name, column] of Object.entries(this.table)) {
      if (from >= 0) column.length = from;
      column.push(...series[name]);
    }
  }

  forget(now) {
    const oldest = now - this.seconds - this.bucket / 1000;
    const first = this.table.t.findIndex((t) => t >= oldest);
    const gone = first < 0 ? this.table.t.length : first;
    for (const column of Object.values(this.table)) column.splice(0, gone);
    for (const [number, at] of this.attempts) if (at < oldest) this.attempts.delete(number);
  }
}
