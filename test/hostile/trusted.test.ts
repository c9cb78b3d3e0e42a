import { describe } from 'vitest';
import { testAttacks } from './attack-tests.ts';

describe('an extension that is trusted and', () => testAttacks('trusted'));
