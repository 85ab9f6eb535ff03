# Checks a time line: on each track of a block one thing follows another, and every slice lies in a named track.
import collections
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
tracks = collections.defaultdict(list)
for event in events:
    if event["ph"] == "X":
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
if set(tracks) != named:
    sys.exit(f"tracks {sorted(tracks)} are not those that are named, {sorted(named)}")
for track, slices in tracks.items():
    slices.sort()
    for (_, end), (begin, _) in zip(slices, slices[1:]):
        if begin < end - 1e-9:
            sys.exit(f"slices of track {track} overlap at {begin}")
