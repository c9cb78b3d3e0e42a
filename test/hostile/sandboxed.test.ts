import { describe } from 'vitest';
import { testAttacks } from './attack-tests.ts';

describe('an extension that is sandboxed and', () => testAttacks('sandboxed'));
