import { describe, expect, test } from 'vitest';
import { askedClient } from '../../../test/support/asked-client.ts';
import { createWishes } from './wishes.ts';

const party = (agent: string, session: string) => ({ agent, session, host: askedClient(session) });
const all = (): boolean => true;

describe('what sessions wish to be told', () => {
  test('[TWOWAY-29] is of a circle the least severe level, and each resource once', () => {
    const wishes = createWishes();
    expect([wishes.any(), wishes.level(all)]).toEqual([false, undefined]);
    const [a1, a2, b] = [party('a', 'a1'), party('a', 'a2'), party('b', 'b1')];
    wishes.logLevel(a1, 'error');
    wishes.logLevel(a2, 'info');
    wishes.logLevel(b, 'debug');
    wishes.follow(a1, 'x:1');
    wishes.follow(a2, 'x:1');
    const ofA = ({ agent }: { readonly agent: string }): boolean => agent === 'a';
    expect([wishes.level(ofA), wishes.level(all), [...wishes.followed(ofA)]]).toEqual(['info', 'debug', ['x:1']]);
    wishes.unfollow('a1', 'x:1');
    expect([...wishes.followed(ofA)]).toEqual(['x:1']);
    expect(wishes.concerned(all, 'x:1')).toEqual(['a2']);
    expect(wishes.drop('a2')?.uris).toEqual(['x:1']);
    expect([...wishes.followed(ofA)]).toEqual([]);
    wishes.logLevel(a1, undefined);
    wishes.logLevel(b, undefined);
    expect(wishes.any()).toBe(false);
  });

  test('[TWOWAY-28] keep the client that whatever is opened for them later is for', () => {
    const wishes = createWishes();
    const whole = party('a', 'a1');
    wishes.logLevel({ agent: 'a', session: 'a1' }, 'info');
    wishes.follow(whole, 'x:1');
    wishes.logLevel({ agent: 'a', session: 'a1' }, 'debug');
    expect(wishes.someone(all)).toBe(whole);
  });

  test('an update of a part concerns who follows the whole', () => {
    const wishes = createWishes();
    wishes.follow(party('a', 'whole'), 'x:dir/');
    wishes.follow(party('a', 'part'), 'x:dir/file');
    wishes.follow(party('a', 'other'), 'x:elsewhere');
    expect(wishes.concerned(all, 'x:dir/file')).toEqual(['whole', 'part']);
    expect(wishes.concerned(all, 'x:dir/')).toEqual(['whole']);
  });
});
