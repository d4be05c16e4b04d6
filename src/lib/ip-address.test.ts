// Which kind of place an address is.
import { expect, test } from 'vitest';
import { addressClass } from './ip-address.ts';

const kinds: Readonly<Record<string, string | undefined>> = {
  '8.8.8.8': 'public',
  '172.15.0.1': 'public',
  '172.32.0.1': 'public',
  '127.0.0.1': 'loopback',
  '127.255.255.254': 'loopback',
  '10.0.0.1': 'private',
  '172.16.0.1': 'private',
  '172.31.255.255': 'private',
  '192.168.1.1': 'private',
  '100.64.0.1': 'private',
  '169.254.1.1': 'link_local',
  '169.254.169.254': 'metadata',
  '100.100.100.200': 'metadata',
  '168.63.129.16': 'metadata',
  '0.0.0.0': 'reserved',
  '224.0.0.1': 'reserved',
  '255.255.255.255': 'reserved',
  '192.0.2.1': 'reserved',
  '2606:4700::1111': 'public',
  '::1': 'loopback',
  '::': 'reserved',
  'fe80::1': 'link_local',
  'fe80::1%eth0': 'link_local',
  'fd00:ec2::254': 'metadata',
  'fd12:3456::1': 'private',
  'fec0::1': 'private',
  'ff02::1': 'reserved',
  '::ffff:127.0.0.1': 'loopback',
  '::ffff:a9fe:a9fe': 'metadata',
  '::ffff:0:10.0.0.1': 'private',
  '::10.0.0.1': 'private',
  '64:ff9b::a9fe:a9fe': 'metadata',
  '64:ff9b:1::10.0.0.1': 'private',
  '2002:7f00:1::': 'loopback',
  '2002:808:808::': 'public',
};

test.each(Object.entries(kinds))('[SSRF-1] %s is %s', (address, kind) => {
  expect(addressClass(address)).toBe(kind);
});

test.each([
  '',
  'example.org',
  '1.2.3',
  '1.2.3.4.5',
  '256.1.1.1',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7:8:9',
  '::g',
  '::1.2.3',
  '[::1]',
])('[SSRF-1] %j is no address in its usual form', (text) => {
  expect(addressClass(text)).toBeUndefined();
});
