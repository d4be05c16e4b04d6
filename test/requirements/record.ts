// What is on the record and how that is proved.

export const record = {
  'AUD-1': 'Leaf and node hashes, inclusion and consistency proofs are RFC 6962, checked against published vectors.',
  'AUD-2': 'Checkpoints are C2SP signed notes, signed at most once a second and at once for decisions.',
  'AUD-3': 'A flipped byte is detected and located.',
  'AUD-4': 'A deleted record is detected and located.',
  'AUD-5': 'Swapped records are detected and located.',
  'AUD-6': 'A truncated log is detected; below a signed checkpoint the daemon refuses to start.',
  'AUD-7': 'A forked log is detected against an older checkpoint.',
  'AUD-8': 'A replayed old checkpoint is detected.',
  'AUD-9': 'One record is proved offline from an exported bundle by a script that needs nothing of the product.',
  'AUD-10': 'The intent is on the record before the effect; an intent without outcome closes as unknown at the next start.',
  'AUD-11': 'State and record are one commit: a crash between them is finished at boot, nothing twice and nothing lost.',
  'AUD-12': 'A full disk refuses what must be recorded, keeps answering look-ups, and recovers when there is room.',
  'AUD-13': 'Arguments and results are on the record as salted digests only.',
  'AUD-14': 'A torn tail is cut back to whole records and the loss is on the record.',
} as const;
