"""The metrics by pandas and NumPy: their windows, moving averages, deviations and histograms.

Called with a folder of packages. Reads what `reference.py` reads, and writes the same of activities and of the split.
Loads and trends are those of every day: {"days": {"2026-03-01": {"loads": {...}, "hrv": [...], "resting": [...]}}}.
Both heart rates of the athlete are stated, and samples are whole seconds apart.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

MEASURES = [
    "duration", "distance", "heart_rate_average", "power_average", "power_normalised", "exertion",
]


def values(things, names):
    rows = [{name: known["value"] for name, known in thing["measures"].items()} for thing in things]
    return pd.DataFrame(rows, columns=names, dtype=float)


def held(activity, name):
    """Seconds, and the value that each of them has."""
    at, value = (np.array([each[key] for each in activity["samples"]], dtype=float) for key in ("at_s", name))
    begins, ends = (np.array([pause[end] for pause in activity["pauses"]], dtype=float) for end in (0, 1))
    overlap = np.minimum(at[1:, None], ends) - np.maximum(at[:-1, None], begins)
    seconds = np.minimum(np.diff(at) - np.clip(overlap, 0, None).sum(axis=1), 30).astype(int)
    each = np.repeat(value[:-1], seconds)
    return each[~np.isnan(each)]


def covers(each, of):
    return each.size > 0 and each.size >= 0.8 * of.duration


def histogram(bpm, begins):
    return np.histogram(bpm, [-np.inf, *begins, np.inf])[0].tolist() if bpm.size else None


def impulse(bpm, athlete):
    """Of a minute. Without the sex it is not known."""
    rest, top = athlete["resting_heart_rate"], athlete["max_heart_rate"]
    a, b = {"male": (0.64, 1.92), "female": (0.86, 1.67), None: (np.nan, np.nan)}[athlete["sex"]]
    share = np.clip((bpm - rest) / (top - rest), 0, 1)
    return a * share * np.exp(b * share)


def of_activity(activity, of, athlete):
    bpm, watts = held(activity, "heart_rate"), held(activity, "power")
    rest, top, shares = athlete["resting_heart_rate"], athlete["max_heart_rate"], np.arange(5, 10) / 10
    ftp, threshold = (athlete[name] or np.nan for name in ("threshold_power", "threshold_heart_rate"))
    average = of.duration / 60 * impulse(of.heart_rate_average, athlete)
    # The mean of the covered time is that of the whole duration.
    trimp = impulse(bpm, athlete).mean() * of.duration / 60 if covers(bpm, of) else average
    power = of.power_average if np.isnan(of.power_normalised) else of.power_normalised
    if covers(watts, of) and watts.size >= 30:
        power = (pd.Series(watts).rolling(30).mean() ** 4).mean() ** 0.25
    by_power = of.duration / 36 * (power / ftp) ** 2
    speed = of.distance / of.duration * 60 if activity["sport"] == "running" and of.distance > 0 else np.nan
    return {
        "trimp": trimp,
        "tss": trimp / 0.6 / impulse(threshold, athlete) if np.isnan(by_power) else by_power,
        "session_rpe": of.exertion * of.duration / 60,
        "normalised_power": power,
        "intensity_factor": power / ftp,
        "efficiency_factor": (speed if np.isnan(power) else power) / of.heart_rate_average,
        "decoupling": decoupling(activity, of),
        "zones_of_max": histogram(bpm, shares * top),
        "zones_of_reserve": histogram(bpm, rest + shares * (top - rest)),
    }


def decoupling(activity, of):
    """From the seconds that have a heart rate and a power, else and of a run a speed."""
    columns = ["at_s", "heart_rate", "power", "speed", "distance"]
    table = pd.DataFrame(activity["samples"], columns=columns, dtype=float)
    begins, ends = (np.array([pause[end] for pause in activity["pauses"]], dtype=float) for end in (0, 1))
    at, following = table.at_s.to_numpy()[:-1, None], table.at_s.to_numpy()[1:, None]
    paused = np.clip(np.minimum(following, ends) - np.maximum(at, begins), 0, None).sum(axis=1)
    table = table.assign(
        seconds=pd.Series(np.minimum(np.diff(table.at_s) - paused, 30), dtype=float), step=-table.distance.diff(-1)
    )
    table["speed"] = table.speed.fillna((table.step / table.seconds).where(table.seconds < 30))
    table["speed"] = table.speed.where(table.speed.between(0, 12))
    for output in ["power", "speed"] if activity["sport"] == "running" else ["power"]:
        known = table[table.seconds > 0].dropna(subset=["heart_rate", output])
        # Half seconds, so that both halves have the same number.
        each = known.iloc[np.repeat(np.arange(len(known)), 2 * known.seconds.astype(int))]
        if len(each) and len(each) / 2 >= 0.8 * of.duration:
            first, second = each.iloc[: len(each) // 2], each.iloc[len(each) // 2 :]
            before, after = (half[output].mean() / half.heart_rate.mean() for half in (first, second))
            return (1 - after / before) * 100 if before > 0 else np.nan
    return np.nan


def loads(each, days):
    """From the loads of activities by day. A day with an unknown one is unknown, a day without an activity is rest."""
    daily = each.groupby(level=0).agg(lambda of_day: of_day.sum(skipna=False)).reindex(days, fill_value=0.0)
    found = pd.DataFrame(index=days)
    for name, length in (("acute", 7), ("chronic", 28)):
        # A quarter of the days may be unknown, and none may lie before the first.
        mean = daily.rolling(length, min_periods=length - length // 4).mean()
        found[name] = mean.where(np.arange(len(days)) >= length - 1)
        moving = daily.ewm(span=length, adjust=False, ignore_na=True).mean()
        found[name + "_ewma"] = moving.where(found[name].notna())
    found["ratio"], found["ratio_ewma"] = found.acute / found.chronic, found.acute_ewma / found.chronic_ewma
    # Coggan's average starts at 0: a day of rest before the first, with the weight of all days before it.
    zero = pd.concat([pd.Series(0.0, [days[0] - pd.Timedelta(days=1)]), daily])
    for name, length in (("ctl", 42), ("atl", 7)):
        level = zero.ewm(alpha=1 - np.exp(-1 / length), adjust=False, ignore_na=True).mean()[days]
        enough = daily.rolling(length, min_periods=length - length // 4).mean()
        found[name] = level.where(enough.notna() & (np.arange(len(days)) >= length - 1))
    found["tsb"] = (found.ctl - found.atl).shift(1)
    week = daily.rolling(7, min_periods=6)
    found["monotony"] = found.acute / week.std(ddof=0)
    found["strain"] = week.sum() * found.monotony
    # Before the first load that is known there is none.
    found[~(days >= each.dropna().index.min())] = np.nan
    return found.to_dict("index")


def trends(measured):
    before = measured.shift(7).rolling(60, min_periods=14)
    mean, spread = before.mean(), before.std(ddof=1)
    columns = [measured.rolling(7, min_periods=3).mean(), mean, spread, mean - spread / 2, mean + spread / 2]
    return pd.concat(columns, axis=1).dropna().T.to_dict("list")


def metrics(case):
    season, athlete = case["season"], case["athlete"]
    activities, of = season["activities"], values(season["activities"], MEASURES)
    each = [of_activity(*pair, athlete) for pair in zip(activities, of.itertuples())]
    rates = ((held(activity, "heart_rate"), row) for activity, row in zip(activities, of.itertuples()))
    times = np.concatenate([[], *(bpm for bpm, row in rates if covers(bpm, row))])
    parts = histogram(times, np.array([0.83, 0.88]) * athlete["max_heart_rate"])
    starts = [pd.Timestamp(a["start"]) + pd.Timedelta(seconds=a["offset"]) for a in activities]
    loads_of = pd.DataFrame(each, pd.DatetimeIndex(starts).tz_localize(None).normalize())
    days = pd.date_range(loads_of.index.min(), case["as_of"])
    by_scale = {scale: loads(loads_of[scale], days) for scale in ("trimp", "tss", "session_rpe")}
    measured = values(season["days"].values(), ["hrv", "resting_heart_rate"])
    measured = measured.set_axis(pd.DatetimeIndex(season["days"]))
    measured = measured.reindex(pd.date_range(min(days[0], *measured.index), days[-1]))
    hrv, resting = trends(np.log(measured.hrv)), trends(measured.resting_heart_rate)
    by_day = {
        str(day.date()): {"loads": {scale: found[day] for scale, found in by_scale.items()}}
        | {"hrv": hrv.get(day), "resting": resting.get(day)}
        for day in days
    }
    parts = [seconds / times.size for seconds in parts] if parts else None
    return {"activities": dict(zip((a["id"] for a in activities), each)), "split": parts, "days": by_day}


written = json.dumps([metrics(case) for case in json.load(sys.stdin)])
# What is not known is null; an infinity is no result, and fails.
print(json.dumps(json.loads(written, parse_constant={"NaN": None}.__getitem__)))
