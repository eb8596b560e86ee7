"""The metrics, once more: an independent implementation from the formulas in docs/training.md.

Reads one JSON object on standard input: {"season": as the crate serialises it, "athlete": {...}, "as_of": "2026-03-01"},
and writes what the metrics are. What cannot be computed is null. Needs the standard library alone (Python 3.11).
"""

import bisect
import datetime as dt
import json
import math
import statistics
import sys

HOLD = 30.0
DAY = dt.timedelta(days=1)


def instant(text):
    return dt.datetime.fromisoformat(text.replace("Z", "+00:00"))


def local_day(activity):
    return (instant(activity["start"]) + dt.timedelta(seconds=activity["offset"])).date()


def measure(thing, name):
    known = thing["measures"].get(name)
    return None if known is None else known["value"]


def lengths(activity):
    """Seconds for which each sample but the last is valid: without pauses, at most 30, in all at most the duration."""
    times = [sample["at_s"] for sample in activity["samples"]]
    seconds = []
    for begin, end in zip(times, times[1:]):
        paused = sum(max(0.0, min(end, to) - max(begin, at)) for at, to in activity["pauses"])
        seconds.append(max(0.0, min(HOLD, end - begin - paused)))
    duration = measure(activity, "duration")
    if duration is not None and math.fsum(seconds) > duration:
        # The longest are cut to one length: what is left of the duration after all shorter ones, in equal parts.
        shortest, left = sorted(seconds), duration
        while shortest and shortest[0] <= left / len(shortest):
            left -= shortest.pop(0)
        if shortest:
            seconds = [min(each, left / len(shortest)) for each in seconds]
    return seconds


def held(activity, name):
    pairs = zip(activity["samples"], lengths(activity))
    return [(seconds, sample[name]) for sample, seconds in pairs if sample[name] is not None and seconds > 0]


class Athlete:
    """What is stated, else what the files say, else what follows."""

    def __init__(self, stated, season, as_of):
        read = season["athlete"]

        def either(name):
            return stated.get(name) if stated.get(name) is not None else read.get(name)

        self.sex = either("sex")
        self.max = either("max_heart_rate")
        if self.max is None and either("birth_date") is not None:
            born = dt.date.fromisoformat(either("birth_date"))
            age = as_of.year - born.year - ((as_of.month, as_of.day) < (born.month, born.day))
            self.max = 208 - 0.7 * age
        self.rest = either("resting_heart_rate")
        if self.rest is None:
            known = [
                measure(day, "resting_heart_rate")
                for date, day in season["days"].items()
                if as_of - 27 * DAY <= dt.date.fromisoformat(date) <= as_of
            ]
            known = [bpm for bpm in known if bpm is not None]
            self.rest = statistics.fmean(known) if known else None
        self.threshold = either("threshold_heart_rate")
        self.ftp = either("threshold_power")

    def impulse_per_minute(self, bpm):
        share = min(1.0, max(0.0, (bpm - self.rest) / (self.max - self.rest)))
        a, b = (0.64, 1.92) if self.sex == "male" else (0.86, 1.67)
        return a * share * math.exp(b * share)


def covers(pieces, activity):
    seconds = sum(seconds for seconds, _ in pieces)
    return seconds > 0 and seconds >= 0.8 * measure(activity, "duration")


def trimp(activity, athlete):
    if None in (athlete.sex, athlete.max, athlete.rest) or athlete.max <= athlete.rest:
        return None
    duration = measure(activity, "duration")
    pieces = held(activity, "heart_rate")
    if covers(pieces, activity):
        measured = math.fsum(seconds * athlete.impulse_per_minute(bpm) for seconds, bpm in pieces) / 60
        return measured * duration / math.fsum(seconds for seconds, _ in pieces)
    average = measure(activity, "heart_rate_average")
    return None if average is None else duration / 60 * athlete.impulse_per_minute(average)


def normalised_power(activity):
    watts, carry = [], 0.0
    pieces = held(activity, "power")
    for seconds, value in pieces:
        carry += seconds
        whole = math.floor(carry)
        watts += [value] * whole
        carry -= whole
    if len(watts) >= 30 and covers(pieces, activity):
        sums = [0.0]
        for value in watts:
            sums.append(sums[-1] + value)
        means = [(sums[end] - sums[end - 30]) / 30 for end in range(30, len(sums))]
        return statistics.fmean(mean**4 for mean in means) ** 0.25
    device = measure(activity, "power_normalised")
    return device if device is not None else measure(activity, "power_average")


def tss(activity, athlete):
    duration, power = measure(activity, "duration"), normalised_power(activity)
    if power is not None and athlete.ftp is not None:
        return duration / 3600 * (power / athlete.ftp) ** 2 * 100
    impulse = trimp(activity, athlete)
    if impulse is None or athlete.threshold is None or not athlete.rest < athlete.threshold <= athlete.max:
        return None
    return impulse / (60 * athlete.impulse_per_minute(athlete.threshold)) * 100


def intensity_factor(activity, athlete):
    power = normalised_power(activity)
    return None if power is None or athlete.ftp is None else power / athlete.ftp


def efficiency_factor(activity):
    beats, power = measure(activity, "heart_rate_average"), normalised_power(activity)
    if beats is None:
        return None
    if power is not None:
        return power / beats
    metres = measure(activity, "distance")
    if activity["sport"] != "running" or not metres:
        return None
    return metres / measure(activity, "duration") * 60 / beats


def decoupling(activity):
    """The loss of output for a beat from the first to the second half."""

    def power(sample, _, __):
        return sample["power"]

    def speed(sample, following, seconds):
        value = sample["speed"]
        if value is None and None not in (sample["distance"], following["distance"]) and seconds < HOLD:
            value = (following["distance"] - sample["distance"]) / seconds
        return value if value is not None and 0 <= value <= 12 else None

    for output in [power, speed] if activity["sport"] == "running" else [power]:
        samples, pieces = activity["samples"], []
        for sample, following, seconds in zip(samples, samples[1:], lengths(activity)):
            value = output(sample, following, seconds) if seconds > 0 else None
            if value is not None and sample["heart_rate"] is not None:
                pieces.append((seconds, value, sample["heart_rate"]))
        total = math.fsum(seconds for seconds, _, _ in pieces)
        if total > 0 and total >= 0.8 * measure(activity, "duration"):
            halves = [[0.0, 0.0], [0.0, 0.0]]
            begin = 0.0
            for seconds, value, beats in pieces:
                first = min(max(total / 2 - begin, 0.0), seconds)
                for half, share in zip(halves, (first, seconds - first)):
                    half[0] += share * value
                    half[1] += share * beats
                begin += seconds
            before, after = (outputs / beats for outputs, beats in halves)
            return None if before <= 0 else (1 - after / before) * 100
    return None


def session_rpe(activity):
    exertion = measure(activity, "exertion")
    return None if exertion is None else exertion * measure(activity, "duration") / 60


def load_of(scale, activity, athlete):
    return {
        "trimp": lambda: trimp(activity, athlete),
        "tss": lambda: tss(activity, athlete),
        "session_rpe": lambda: session_rpe(activity),
    }[scale]()


def daily(season, athlete, scale, as_of):
    """Loads by day, oldest first; None is unknown. None where no load is known."""
    activities = [each for each in season["activities"] if local_day(each) <= as_of]
    if not activities:
        return None
    loads = {each["id"]: load_of(scale, each, athlete) for each in activities}
    if all(load is None for load in loads.values()):
        return None
    first = min(map(local_day, activities))
    series = []
    for number in range((as_of - first).days + 1):
        of_day = [loads[each["id"]] for each in activities if local_day(each) == first + number * DAY]
        series.append(None if None in of_day else math.fsum(of_day))
    return series


def window(series, days):
    if series is None or len(series) < days:
        return None
    known = [load for load in series[-days:] if load is not None]
    return known if (days - len(known)) * 4 <= days else None


def moving(series, days):
    if window(series, days) is None:
        return None
    known = [load for load in series if load is not None]
    lam, average = 2 / (days + 1), known[0]
    for load in known[1:]:
        average += lam * (load - average)
    return average


def response(series, days):
    """Coggan's moving average: it starts at 0 on the day before the first."""
    if window(series, days) is None:
        return None
    keep, level = math.exp(-1 / days), 0.0
    for load in series:
        if load is not None:
            level = keep * level + (1 - keep) * load
    return level


def form(series):
    fitness, fatigue = (response(series[:-1] if series else None, days) for days in (42, 7))
    return None if fitness is None or fatigue is None else fitness - fatigue


def ratio(acute, chronic):
    return acute / chronic if acute is not None and chronic is not None and chronic > 0 else None


def loads(season, athlete, scale, as_of):
    series = daily(season, athlete, scale, as_of)
    week, month = window(series, 7), window(series, 28)
    acute = statistics.fmean(week) if week else None
    chronic = statistics.fmean(month) if month else None
    deviation = statistics.pstdev(week) if week else 0
    monotony = acute / deviation if deviation > 1e-12 else None
    return {
        "acute": acute,
        "chronic": chronic,
        "ratio": ratio(acute, chronic),
        "acute_ewma": moving(series, 7),
        "chronic_ewma": moving(series, 28),
        "ratio_ewma": ratio(moving(series, 7), moving(series, 28)),
        "ctl": response(series, 42),
        "atl": response(series, 7),
        "tsb": form(series),
        "monotony": monotony,
        "strain": None if monotony is None else math.fsum(week) * monotony,
    }


def zones(activity, begins):
    pieces = held(activity, "heart_rate")
    if not pieces:
        return None
    times = [0.0] * 6
    for seconds, bpm in pieces:
        times[bisect.bisect_right(begins, bpm)] += seconds
    return times


def split(activities, athlete):
    times = [0.0] * 3
    for activity in activities:
        pieces = held(activity, "heart_rate")
        if athlete.max is not None and covers(pieces, activity):
            for seconds, bpm in pieces:
                times[bisect.bisect_right([0.83 * athlete.max, 0.88 * athlete.max], bpm)] += seconds
    total = math.fsum(times)
    return [time / total for time in times] if total else None


def trend(season, as_of, name, scale):
    def values(first, last):
        found = []
        for back in range(first, last - 1, -1):
            day = season["days"].get((as_of - back * DAY).isoformat())
            value = None if day is None else measure(day, name)
            if value is not None:
                found.append(scale(value))
        return found

    week, before = values(6, 0), values(66, 7)
    if len(week) < 3 or len(before) < 14:
        return None
    mean, spread = statistics.fmean(before), statistics.stdev(before)
    return [statistics.fmean(week), mean, spread, mean - spread / 2, mean + spread / 2]


def vdot(seconds, metres):
    minutes = seconds / 60
    speed = metres / minutes
    cost = -4.60 + 0.182258 * speed + 0.000104 * speed**2
    share = 0.8 + 0.1894393 * math.exp(-0.012778 * minutes) + 0.2989558 * math.exp(-0.1932605 * minutes)
    return cost / share


def vdot_time(value, metres):
    """By Newton's method with a difference for the slope."""
    seconds = metres / 3.5
    for _ in range(60):
        error = vdot(seconds, metres) - value
        slope = (vdot(seconds * 1.000001, metres) - vdot(seconds * 0.999999, metres)) / (seconds * 0.000002)
        seconds = max(seconds - error / slope, metres / 10)
    return seconds


def best_run(season, as_of):
    found = []
    for activity in season["activities"]:
        if activity["sport"] != "running" or not as_of - 41 * DAY <= local_day(activity) <= as_of:
            continue
        seconds, metres = measure(activity, "duration"), measure(activity, "distance")
        if seconds is not None and metres is not None and metres >= 1500 and seconds >= 210:
            value = vdot(seconds, metres)
            if 0 < value <= 90:
                found.append((value, activity["id"], seconds, metres))
    return max(found) if found else None


def races(season, as_of):
    best = best_run(season, as_of)
    if best is None:
        return None
    value, name, seconds, metres = best
    times = [
        [seconds * (race / metres) ** 1.06, vdot_time(value, race)] for race in (5000, 10000, 21097.5, 42195)
    ]
    return {"run": name, "vdot": value, "times": times}


def weeks(season, as_of):
    activities = [each for each in season["activities"] if local_day(each) <= as_of]
    if not activities:
        return None
    monday = min(map(local_day, activities))
    monday -= monday.weekday() * DAY
    found = []
    while monday <= as_of:
        sports = {}
        for each in activities:
            if monday <= local_day(each) < monday + 7 * DAY:
                volume = sports.setdefault(each["sport"], [0, 0.0, None])
                volume[0] += 1
                volume[1] += measure(each, "duration")
                distance = measure(each, "distance")
                if distance is not None:
                    volume[2] = (volume[2] or 0.0) + distance
        found.append([monday.isoformat(), sports])
        monday += 7 * DAY
    return found


def metrics(case):
    season, as_of = case["season"], dt.date.fromisoformat(case["as_of"])
    athlete = Athlete(case["athlete"], season, as_of)
    percents = [0.5, 0.6, 0.7, 0.8, 0.9]
    of_max = [p * athlete.max for p in percents] if athlete.max is not None else None
    of_reserve = None
    if athlete.max is not None and athlete.rest is not None:
        of_reserve = [athlete.rest + p * (athlete.max - athlete.rest) for p in percents]
    return {
        "activities": {
            each["id"]: {
                "trimp": trimp(each, athlete),
                "tss": tss(each, athlete),
                "session_rpe": session_rpe(each),
                "intensity_factor": intensity_factor(each, athlete),
                "efficiency_factor": efficiency_factor(each),
                "decoupling": decoupling(each),
                "normalised_power": normalised_power(each),
                "zones_of_max": zones(each, of_max) if of_max else None,
                "zones_of_reserve": zones(each, of_reserve) if of_reserve else None,
            }
            for each in season["activities"]
        },
        "loads": {scale: loads(season, athlete, scale, as_of) for scale in ("trimp", "tss", "session_rpe")},
        "split": split(season["activities"], athlete),
        "hrv": trend(season, as_of, "hrv", math.log),
        "resting": trend(season, as_of, "resting_heart_rate", float),
        "races": races(season, as_of),
        "weeks": weeks(season, as_of),
    }


print(json.dumps([metrics(case) for case in json.load(sys.stdin)]))
