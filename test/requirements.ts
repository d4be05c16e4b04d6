// Every behaviour the product promises, by id. A test cites an id in its title, `[AUD-4] …`; test/requirements.test.ts fails on
// an id nobody cites and on a citation of an unknown id.
import { decisions } from './requirements/decisions.ts';
import { defences } from './requirements/defences.ts';
import { doors } from './requirements/doors.ts';
import { house } from './requirements/house.ts';
import { protocol } from './requirements/protocol.ts';
import { record } from './requirements/record.ts';
import { secrets } from './requirements/secrets.ts';
import { upstreams } from './requirements/upstreams.ts';

export const families = { house, doors, decisions, record, secrets, defences, upstreams, protocol };

export const requirements = {
  ...house,
  ...doors,
  ...decisions,
  ...record,
  ...secrets,
  ...defences,
  ...upstreams,
  ...protocol,
};
