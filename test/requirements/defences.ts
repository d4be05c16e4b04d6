// What is done about agents that were misled or mislead.

export const defences = {
  'DECOY-1':
    'Honeytokens are planted, listed and taken in with a signature only; agents are told of none, and nothing unsigned tells them from secrets.',
  'DECOY-2':
    'An agent that names a honeytoken where secrets are meant, sends its value in any spelling or has it read is suspended at once, before anything else of it passes, and the incident is recorded.',
  'DECOY-3': 'What only resembles a honeytoken, its name or its value, troubles nobody.',
  'DECOY-4':
    'A suspension denies every call, survives restarts and ends with a signature; in mode alert the call alone is refused.',
  'DECOY-5':
    'Where what is stored about honeytokens cannot be read nothing passes; a setting that is none counts as the strictest.',
  'DECOY-6': 'Values of honeytokens look like tokens of their kind, checksum included, and share nothing else.',

  'EFFECT-1':
    'A tool counts as writing unless its accepted definition or the operator says that it reads, in one place for every use.',

  'TAINT-1': 'Results are searched for attempts to give orders, their first 64 KiB, in linear time.',
  'TAINT-2': 'What was found is recorded by the names of pattern and upstream, never by its text.',
  'TAINT-3':
    'In mode enforce a person decides about each write to another upstream, whatever grants there are; the approval of exactly that lets it pass, reads go on.',
  'TAINT-4': 'Taint ends after thirty minutes or with a signature.',
} as const;
