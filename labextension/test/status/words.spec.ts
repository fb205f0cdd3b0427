import { describe, expect, it } from 'vitest';

import { statusOf } from '../../src/status/words';

describe('the status bar', () => {
  it('says nothing where there is nothing', () => {
    expect(statusOf(null, 0).text).toBe('');
    expect(statusOf({ connected: 0, broken: 0, waiting: 0 }, 0).text).toBe('');
  });

  it('counts servers, and those that are lost', () => {
    expect(statusOf({ connected: 1, broken: 0, waiting: 0 }, 0)).toEqual({
      text: 'MCP: 1 server',
      title: '1 MCP server connected. Open the panel.',
      urgent: false
    });
    expect(statusOf({ connected: 2, broken: 1, waiting: 0 }, 0).text).toBe('MCP: 3 servers, 1 lost');
  });

  it('says that a question waits, also when it waits in another notebook', () => {
    const here = statusOf({ connected: 1, broken: 0, waiting: 1 }, 0);
    expect(here.text).toBe('MCP: 1 server, 1 question waits');
    expect(here.urgent).toBe(true);
    expect(statusOf(null, 2).title).toBe('2 questions wait for your answer in another notebook. Open the panel.');
    expect(statusOf({ connected: 0, broken: 0, waiting: 1 }, 1).title).toBe(
      '2 questions wait for your answer, 1 in other notebooks. Open the panel.'
    );
  });
});
